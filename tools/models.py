#!/usr/bin/env python3
"""Cuts assets/models.json out of the price list that the package litellm carries.

    python3 -m venv /tmp/litellm && /tmp/litellm/bin/pip download --no-deps \\
        --dest /tmp/litellm litellm
    python3 tools/models.py /tmp/litellm/litellm-*.whl > assets/models.json

The list is under the MIT licence (assets/models.LICENSE). What is kept of it: the
language models that talk, of providers that ibid knows by name, without those that
are gone by the day of the cut. Servers of a person's own are left out: what they run
is known to them alone.
"""

import datetime
import json
import sys
import zipfile

LIST = "litellm/model_prices_and_context_window_backup.json"
PROVIDERS = ["anthropic", "deepseek", "gemini", "groq", "mistral", "openai", "openrouter", "xai"]


def is_kept(facts, today):
    """Whether it is a model to talk with, today, whose window is known."""
    outputs = facts.get("supported_output_modalities", ["text"])
    return (
        facts.get("mode") == "chat"
        and "text" in outputs
        and isinstance(facts.get("max_input_tokens"), int)
        and facts.get("deprecation_date", "9999") > today
    )


def per_million(cost):
    """Dollars for a million tokens, without the dust of binary fractions."""
    return None if cost is None else float(f"{cost * 1_000_000:.6g}")


def cut(facts):
    kept = {
        # What a request may hold. Where a provider counts the answer apart, the
        # window is larger by it; the smaller figure never promises too much.
        "contextWindow": facts["max_input_tokens"],
        "maxOutput": facts.get("max_output_tokens"),
        "inputPrice": per_million(facts.get("input_cost_per_token")),
        "outputPrice": per_million(facts.get("output_cost_per_token")),
    }
    return {name: value for name, value in kept.items() if value is not None}


def main():
    wheel = sys.argv[1]
    with zipfile.ZipFile(wheel) as archive:
        listed = json.loads(archive.read(LIST))
    version = wheel.rsplit("/", 1)[-1].split("-")[1]
    today = datetime.date.today().isoformat()
    providers = {name: {} for name in PROVIDERS}
    for name, facts in listed.items():
        provider = facts.get("litellm_provider")
        model = name.removeprefix(f"{provider}/")
        # A fine-tuned model has an id of its own; this is the price of the kind.
        if provider in providers and is_kept(facts, today) and not model.startswith("ft:"):
            providers[provider][model] = cut(facts)
    # One model a line, in order, so that a later cut can be compared with this one.
    print(f'{{"source":"litellm {version} (MIT), cut on {today}","providers":{{')
    blocks = []
    for provider in sorted(providers):
        lines = [
            f"{json.dumps(model)}:{json.dumps(facts, separators=(',', ':'))}"
            for model, facts in sorted(providers[provider].items())
        ]
        if lines:
            blocks.append(f"{json.dumps(provider)}:{{\n" + ",\n".join(lines) + "\n}")
    print(",\n".join(blocks))
    print("}}")


if __name__ == "__main__":
    main()
