"""The HTTP doors: REST under `/api/v1`, the OpenAI form under `/v1`, server-sent events, and the process that serves."""
