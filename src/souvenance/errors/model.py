"""The model did not do its part."""

from __future__ import annotations

from souvenance.errors.root import SouvenanceError


class ModelError(SouvenanceError):
    """The model did not do its part."""

    code = "model_error"


class NoModel(ModelError):
    """There is no model to ask."""

    code = "no_model"

    def __init__(self) -> None:
        super().__init__(
            "No model is configured or running. Start Ollama, LM Studio, llama.cpp or vLLM, or set OPENAI_API_KEY; "
            "`souvenance doctor` says what was looked for."
        )


class UnknownModel(ModelError):
    """Neither a bot nor a model has this name."""

    code = "unknown_model"

    def __init__(self, name: str, *, known: tuple[str, ...] = ()) -> None:
        shown = name if len(name) <= 80 else name[:77] + "…"
        listed = ", ".join(known[:5]) or "none"
        super().__init__(f"There is no bot or model named {shown!r}. Known: {listed}.", model=shown)


class ModelUnreachable(ModelError):
    """No connection to the model."""

    code = "model_unreachable"

    def __init__(self, model: str, *, reason: str) -> None:
        super().__init__(f"{model} cannot be reached: {reason}.", model=model, reason=reason)


class ModelRefused(ModelError):
    """The upstream answered with an error of its own; `body` is what it said, byte for byte; `/v1` passes it on.

    `retry_after` is its header of that name as it came, "" for none.
    """

    code = "model_refused"

    def __init__(
        self, model: str, *, status: int, body: bytes, content_type: str = "application/json", retry_after: str = ""
    ) -> None:
        super().__init__(f"{model} answered with status {status}.", model=model, status=status)
        self.status = status
        self.body = body
        self.content_type = content_type
        self.retry_after = retry_after


class ModelTimedOut(ModelError):
    """The model said nothing for too long."""

    code = "model_timed_out"

    def __init__(self, model: str, *, seconds: float) -> None:
        super().__init__(f"{model} said nothing for {seconds:g} seconds.", model=model, seconds=seconds)


class ModelBroken(ModelError):
    """The upstream's answer was not what its interface promises, or ended in the middle."""

    code = "model_broken"

    def __init__(self, model: str, *, problem: str) -> None:
        super().__init__(f"{model} sent {problem}.", model=model, problem=problem)


class UnusableAnswer(ModelError):
    """A model was asked for something in a form and, asked again, still gave nothing that can be used."""

    code = "unusable_answer"
    asked_for = "answer"
    outcome = "Nothing was stored."

    def __init__(self, model: str, *, reason: str, tokens_in: int, tokens_out: int) -> None:
        super().__init__(
            f"{model} was asked twice and gave no usable {self.asked_for}: {reason} {self.outcome}",
            model=model,
            reason=reason,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
        )


class UnusableDrafts(UnusableAnswer):
    """A model was asked for drafts and, asked again, still gave none that can be used (V5, V6)."""

    code = "unusable_drafts"
    asked_for = "drafts"


class UnusableSummary(UnusableAnswer):
    """A model was asked for words of a summary and, asked again, still gave none that can be used (S1, S2, S5)."""

    code = "unusable_summary"
    asked_for = "summary"
    outcome = "What was summarised before stays as it is."
