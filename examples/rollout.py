"""Many rollouts at once, each with a turn of a tool; what comes out is training samples with rewards.

python examples/rollout.py                             # against fake_engine.py, which it starts
python examples/rollout.py http://localhost:8000/v1 Qwen/Qwen3-8B
"""

import asyncio
import sys
from dataclasses import dataclass

import fake_engine
import httpx

import turnloom
from turnloom.client import GenerateResult, RetryPolicy, generate

N_ROLLOUTS = 32
MAX_CONCURRENT = 8
MAX_TURNS = 4

NUMBER = {"type": "integer"}
MULTIPLY = {
    "type": "function",
    "function": {
        "name": "multiply",
        "description": "Multiply two integers.",
        "parameters": {"type": "object", "properties": {"a": NUMBER, "b": NUMBER}, "required": ["a", "b"]},
    },
}


@dataclass
class Rollout:
    """A finished conversation: what to train on, and how good it was."""

    samples: list[turnloom.TrainingSample]
    reward: float


@dataclass
class Policy:
    """The model that is trained."""

    client: httpx.AsyncClient
    renderer: turnloom.Renderer
    model: str
    slots: asyncio.Semaphore

    async def sample(self, session: turnloom.Session) -> GenerateResult:
        """Sample the session's next turn."""
        async with self.slots:
            result = await generate(
                client=self.client,
                renderer=self.renderer,
                model=self.model,
                prompt_ids=session.prompt_ids(),
                tools=session.tools,
                sampling_params={"temperature": 1.0, "max_tokens": 1024},
                retry=RetryPolicy(total_timeout=900),
            )
        session.add_completion(result["completion_ids"], result["completion_logprobs"])
        return result


async def rollout(policy: Policy, a: int, b: int) -> Rollout:
    """Let the model solve one task."""
    question = {"role": "user", "content": f"What is {a} x {b}?"}
    answer = ""
    session = policy.renderer.session([question], tools=[MULTIPLY])
    for _ in range(MAX_TURNS):
        try:
            result = await policy.sample(session)
        except turnloom.OverlongPromptError:
            break  # the conversation has outgrown the model
        answer = result["content"]
        if result["finish_reason"] != "tool_calls":
            break
        calls = [call for call in result["tool_calls"] if call.status is turnloom.ToolCallParseStatus.OK]
        results = [{"role": "tool", "content": run_tool(call)} for call in calls]
        if not session.add_messages(results):  # the ids cannot go on as they are
            session.fork(results)
    return Rollout(session.to_training_samples(), reward=float(str(a * b) in answer))


def run_tool(call: turnloom.ParsedToolCall) -> str:
    """Return the tool's result, or what is wrong with the call: the model reads either."""
    match call.name, call.arguments:
        case "multiply", {"a": int(a), "b": int(b)}:
            return str(a * b)
    return f"error: no such call: {call.raw}"


async def main(base_url: str, model: str, tokenizer: turnloom.Tokenizer) -> None:
    """Run all rollouts and print what they gave."""
    renderer = turnloom.create_renderer(tokenizer, turnloom.Qwen3Config())
    async with httpx.AsyncClient(base_url=base_url) as client:
        policy = Policy(client, renderer, model, asyncio.Semaphore(MAX_CONCURRENT))
        tasks = [rollout(policy, 3 + i, 40 + 7 * i) for i in range(N_ROLLOUTS)]
        rollouts = await asyncio.gather(*tasks)

    samples = [sample for rollout in rollouts for sample in rollout.samples]
    n_trained = sum(int(sample.loss_mask.sum()) for sample in samples)
    n_tokens = sum(len(sample.token_ids) for sample in samples)
    mean_reward = sum(rollout.reward for rollout in rollouts) / len(rollouts)
    print(f"{len(rollouts)} rollouts, {len(samples)} samples, reward {mean_reward:.2f}")
    print(f"{n_trained} of {n_tokens} tokens are trained")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        asyncio.run(main(sys.argv[1], sys.argv[2], turnloom.load_tokenizer(sys.argv[2])))
    else:
        with fake_engine.running() as base_url:
            asyncio.run(main(base_url, fake_engine.MODEL, fake_engine.tokenizer()))
