"""The HTTP doors: REST under `/api/v1`, the OpenAI form under `/v1`, and the process that serves both."""
