# Written by scripts/make_template_families.py.
"""The chat formats of known chat templates, by the fingerprints of their texts."""

from turnloom.model_family import ModelFamily

FAMILY_OF_TEMPLATE = {
    # chatml/chatml-generic: generic ChatML (the old transformers default template)
    "153280e3ff55d19da1398bdb3914ee2a51b80429bfaedde11d7d216c39db80f3": ModelFamily(
        "chatml",
    ),
    # chatml/chatml-axolotl: generic ChatML (OpenHermes/Dolphin style)
    "58c1a1f04baa7adaeaba1f90267c3d57d9396f0c1f0129bdde9e76d3c6784af7": ModelFamily(
        "chatml",
    ),
    # chatml/qwen1.5-moe: Qwen/Qwen1.5-MoE-A2.7B, Qwen/Qwen1.5-0.5B
    "af9c0233881b083b52ff773580215222b5440ac3d0beeeca99b76329b048f8db": ModelFamily(
        "chatml",
        fields={"default_system": "You are a helpful assistant"},
    ),
    # chatml/qwen2-7b-instruct: Qwen/Qwen2-7B-Instruct, Qwen/Qwen1.5-4B-Chat
    "793202280c0910ab26bc6eb57c8212c2417324c6d8c4efd0d10d59092ab3e3eb": ModelFamily(
        "chatml",
        fields={"default_system": "You are a helpful assistant."},
    ),
    # chatml/nous-hermes-2-mixtral: NousResearch/Nous-Hermes-2-Mixtral-8x7B-DPO
    "a805e50fed68938a076b07e2e602639611b50b1ced0e50f11eb92f1ba25be4dc": ModelFamily(
        "chatml",
        fields={"bos": "<s>"},
        special_tokens={"bos_token": "<s>"},
    ),
    # hermes/hermes-3: NousResearch/Hermes-3-Llama-3.1-* (default template)
    "9ff2eb30a1d3e937a88108d74b1ab940891be58aa742be4e8c0ce1c1ad90588e": ModelFamily(
        "chatml",
        fields={"bos": "<|begin_of_text|>", "default_system": "You are a helpful assistant."},
        special_tokens={"bos_token": "<|begin_of_text|>"},
    ),
    # qwen2.5/qwen2.5-7b-instruct: Qwen/Qwen2.5-*-Instruct, Qwen/Qwen2.5-Coder-*-Instruct
    "55b2f4a26ac9ee719330a61a0c39d9e538b0e9322212f048326318cff4f8674a": ModelFamily(
        "qwen2.5",
    ),
    # qwen3/qwen3: Qwen/Qwen3-* (current revision), Qwen/Qwen3-1.7B
    "a55ee1b1660128b7098723e0abcd92caa0788061051c62d51cbe87d9cf1974d8": ModelFamily(
        "qwen3",
    ),
    # qwen3/qwen3-first: Qwen/Qwen3-0.6B and the other Qwen3 models (first revision)
    "87a2728cb8dc9fe424d624542f6060ec05a1d285ebbec578bb078900e33396b5": ModelFamily(
        "qwen3",
        fields={"revision": "first"},
    ),
    # qwen3/qwen3-instruct-2507: Qwen/Qwen3-*-Instruct-2507
    "64f85b198065d0fba2a81f37e10ed68161ce2c19a754c7100e67e0ca2ee9c326": ModelFamily(
        "qwen3",
        fields={"revision": "instruct-2507"},
    ),
    # qwen3/qwen3-next-80b: Qwen/Qwen3-Next-80B-A3B (GGUF copy)
    "3802169b2a02b81e6adb7ab4f64f91ff02db753c8c3a64a01c35192d3a61d8d7": ModelFamily(
        "qwen3",
        fields={"revision": "next"},
    ),
    # llama3/llama-3-8b-instruct: meta-llama/Meta-Llama-3-8B-Instruct
    "ba03a121d097859c7b5b9cd03af99aafe95275210d2876f642ad9929a150f122": ModelFamily(
        "llama-3",
        special_tokens={"bos_token": "<|begin_of_text|>"},
    ),
    # llama3/llama-3.1-8b-instruct: meta-llama/Llama-3.1-8B-Instruct, meta-llama/Llama-3.3-70B-Instruct
    "93c0e9aa3629bbd77e68dbc0f5621f6e6b23aa8d74b932595cdb8d64684526d7": ModelFamily(
        "llama-3.1",
        special_tokens={"bos_token": "<|begin_of_text|>"},
    ),
    # llama3/llama-3.2-3b-instruct: meta-llama/Llama-3.2-1B-Instruct, meta-llama/Llama-3.2-3B-Instruct
    "d82792f95932f1c9cef5c4bd992f171225e3bf8c7b609b4557c9e1ec96be819f": ModelFamily(
        "llama-3.2",
        special_tokens={"bos_token": "<|begin_of_text|>"},
    ),
}
