"""Small tokenizers of each kind, trained with Hugging Face's `tokenizers`, and strings in many scripts."""

import json
import random
import re
import unicodedata
from pathlib import Path

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                        trainers)

ROOT = Path(__file__).resolve().parents[3]
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
KIMI = (r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
        r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
SAMPLES = [
    "Hello, world! It's 2026 and they'll've seen 1,234,567 things.", "Größe, naïve café, coöperate, İstanbul, ŒUVRE",
    "Быстрая коричневая лиса прыгает", "Η γρήγορη αλεπού πηδάει", "快速的棕色狐狸跳过了懒狗。", "素早い茶色の狐がのろまな犬を",
    "빠른 갈색 여우가 게으른 개를", "الثعلب البني السريع يقفز", "השועל החום המהיר", "तेज़ भूरी लोमड़ी कूदती है",
    "สุนัขจิ้งจอกสีน้ำตาลกระโดด", "ນີ້ແມ່ນປະໂຫຍກ", "🙂👩‍👩‍👧‍👦🇩🇪 emoji 🎉", "x = [i**2 for i in range(10)]\n\treturn x\r\n",
    "ﬁne ＡＢＣ ①②③ ㌔ ½ ﷺ", "e\u0301 n\u0303 a\u030a q\u0323\u0307", "   lots   of    spaces   ", "▁under▁scores_and-dashes—",
]


def corpus() -> list:
    text = [p.read_text() for p in sorted((ROOT / "docs").glob("*.md"))[:8]]
    return SAMPLES * 40 + [line for t in text for line in t.splitlines()]


def characters() -> list:
    """Assigned characters by block of 128, so that scripts are drawn evenly."""
    blocks = {}
    for code in range(0x20, 0x2FA20):
        c = chr(code)
        if unicodedata.category(c) not in ("Cn", "Cs", "Co"):
            blocks.setdefault(code >> 7, []).append(c)
    return list(blocks.values())


BLOCKS = characters()
COMMON = list(" \n\t\r.,!?'\"-_/()[]{}0123456789") + ["'s", "'LL", "  ", "\r\n", "\u00a0", "\u3000", "\u200d", "\u0301", "▁",
                                                      "\ufffd", "\u1680", "\u2028", "ſ", "İ", "ß"]
WORDS = re.findall(r"\w+|[^\w\s]+", " ".join(SAMPLES))
SPECIALS = ["<s>", "</s>", "<unk>", "[CLS]", "[MASK]", "[SEP]", "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<extra>", "TOKEN",
            "<mask>", "<pad>", "|", "</w>", "<0x41>", "##"]


def random_string(rng: random.Random) -> str:
    parts = []
    for _ in range(rng.randrange(1, 14)):
        kind = rng.random()
        if kind < 0.35:
            parts.append(rng.choice(WORDS))
        elif kind < 0.6:
            parts.append(rng.choice(COMMON) * rng.choice((1, 1, 1, 2, 5)))
        elif kind < 0.85:
            block = rng.choice(BLOCKS)
            parts.append("".join(rng.choice(block) for _ in range(rng.randrange(1, 6))))
        elif kind < 0.92:
            parts.append(rng.choice(SPECIALS))
        else:
            parts.append(chr(rng.randrange(1, 0x250)))
        if rng.random() < 0.4:
            parts.append(" ")
    return "".join(parts)


def trained(model, trainer, normalizer=None, pre_tokenizer=None, **parts) -> Tokenizer:
    tokenizer = Tokenizer(model)
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(corpus(), trainer)
    for name, value in parts.items():
        setattr(tokenizer, name, value)
    return tokenizer


def bpe_trainer(size=600, **options):
    return trainers.BpeTrainer(vocab_size=size, show_progress=False, **options)


def byte_level(pre_tokenizer, special=("<|endoftext|>",), size=600, **parts):
    trainer = bpe_trainer(size, special_tokens=list(special), initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    return trained(models.BPE(), trainer, pre_tokenizer=pre_tokenizer, decoder=decoders.ByteLevel(), **parts)


def gpt2():
    return byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False), post_processor=processors.ByteLevel())


def roberta():
    tokenizer = byte_level(pre_tokenizers.ByteLevel(), ("<s>", "</s>", "<unk>"))
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    return tokenizer


def split_byte_level(pattern, special=("<|endoftext|>", "<|im_start|>", "<|im_end|>"), **parts):
    return byte_level(pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                                               pre_tokenizers.ByteLevel(False, use_regex=False)]), special, **parts)


def changed(tokenizer: Tokenizer, change) -> Tokenizer:
    """With a change of the JSON, for what has no name in Python."""
    data = json.loads(tokenizer.to_str())
    change(data)
    return Tokenizer.from_str(json.dumps(data))


def llama3():
    tokenizer = split_byte_level(LLAMA3)
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing("<|endoftext|> $A", "<|endoftext|> $A <|endoftext|>:1 $B:1", [("<|endoftext|>", 0)])])

    def change(data):
        data["model"]["ignore_merges"] = True
        vocab = data["model"]["vocab"]
        for word in ("Ġrange", "Ġemoji", "lots"):
            vocab.setdefault(word, max(vocab.values()) + 1)
    return changed(tokenizer, change)


def with_bytes(data):
    model = data["model"]
    vocab = model["vocab"]
    for byte in range(256):
        vocab[f"<0x{byte:02X}>"] = len(vocab)
    model["byte_fallback"] = True


def metaspace_trained():
    return trained(models.BPE(unk_token="<unk>", fuse_unk=True),
                   bpe_trainer(500, special_tokens=["<unk>", "<s>", "</s>"], limit_alphabet=120),
                   pre_tokenizer=pre_tokenizers.Metaspace())


def llama2():
    def change(data):
        with_bytes(data)
        data["pre_tokenizer"] = None
    tokenizer = changed(metaspace_trained(), change)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A", "<s> $A <s> $B", [("<s>", 1)])
    return tokenizer


def mistral():
    tokenizer = changed(metaspace_trained(), with_bytes)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    return tokenizer


def gemma():
    tokenizer = changed(metaspace_trained(), with_bytes)
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return tokenizer


def unknown_bpe():
    """Characters outside the vocabulary as unknown tokens, not fused."""
    return trained(models.BPE(unk_token="<unk>"), bpe_trainer(500, special_tokens=["<unk>"], limit_alphabet=60),
                   normalizers.NFKC(), pre_tokenizers.Metaspace(prepend_scheme="never"),
                   decoder=decoders.Metaspace(prepend_scheme="never"))


def dropped_bpe():
    """Characters outside the vocabulary are dropped."""
    return trained(models.BPE(), bpe_trainer(400, limit_alphabet=60), normalizers.NFKD(), pre_tokenizers.Whitespace())


def clip():
    return trained(models.BPE(end_of_word_suffix="</w>", unk_token="<|endoftext|>"),
                   bpe_trainer(900, special_tokens=["<|endoftext|>"], end_of_word_suffix="</w>",
                               initial_alphabet=pre_tokenizers.ByteLevel.alphabet()),
                   normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]),
                   pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(CLIP), "removed", invert=True),
                                            pre_tokenizers.ByteLevel(False)]),
                   decoder=decoders.BPEDecoder("</w>"))


def prefixed_bpe():
    return trained(models.BPE(unk_token="<unk>", continuing_subword_prefix="##", fuse_unk=True),
                   bpe_trainer(600, special_tokens=["<unk>"], continuing_subword_prefix="##", limit_alphabet=100),
                   normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Strip()]),
                   pre_tokenizers.Sequence([pre_tokenizers.CharDelimiterSplit(" "), pre_tokenizers.Punctuation("contiguous"),
                                            pre_tokenizers.Digits(True)]), decoder=decoders.WordPiece())


def bert():
    tokenizer = trained(models.WordPiece(unk_token="[UNK]"),
                        trainers.WordPieceTrainer(vocab_size=700, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
                                                  show_progress=False, limit_alphabet=200),
                        normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer(), decoder=decoders.WordPiece())
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def bert_cased():
    tokenizer = bert()
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    tokenizer.enable_truncation(24, strategy="longest_first", direction="left")
    tokenizer.enable_padding(length=16, direction="left", pad_id=0, pad_token="[PAD]", pad_type_id=1)
    tokenizer.add_tokens([AddedToken("TOKEN", single_word=True), AddedToken("brown", normalized=True, lstrip=True),
                          AddedToken("<extra>", rstrip=True, lstrip=True, normalized=False), AddedToken("FOX 2", normalized=True)])
    return tokenizer


def unigram_trainer(size=500, **options):
    return trainers.UnigramTrainer(vocab_size=size, show_progress=False, unk_token="<unk>", special_tokens=["<unk>", "<s>"],
                                   **options)


def protobuf_field(message: bytes, wanted: int) -> bytes:
    """The last value of a field of bytes."""
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    at, found = 0, b""
    while at < len(message):
        tag = varint()
        size = {0: 0, 1: 8, 5: 4}.get(tag & 7)
        if tag & 7 == 0:
            varint()
        elif size is None:
            size = varint()
        if tag == wanted << 3 | 2:
            found = message[at:at + size]
        at += size
    return found


def charsmap(rule: str, rows=None) -> bytes:
    """The compiled rules of a SentencePiece normalizer."""
    import io
    import sentencepiece
    out = io.BytesIO()
    options = {"normalization_rule_name": rule}
    if rows:
        path = Path("/tmp/rules.tsv")
        path.write_text("".join(f"{a}\t{b}\n" for a, b in rows))
        options = {"normalization_rule_tsv": str(path)}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(SAMPLES * 20), model_writer=out, vocab_size=400,
                                             hard_vocab_limit=False, minloglevel=2, **options)
    return protobuf_field(protobuf_field(out.getvalue(), 3), 2)


def small_charsmap() -> bytes:
    def row(before, after):
        return " ".join(f"{ord(c):X}" for c in before), " ".join(f"{ord(c):X}" for c in after)
    rows = [row(a, b) for a, b in (("ﬁ", "fi"), ("①", "1"), ("Ａ", "A"), ("½", "1⁄2"), ("e\u0301", "é"), ("q\u0323", "ă"),
                                   ("\u200d", ""), ("\u3000", " "), ("\t", " "), ("ﷺ", "صلى"), ("İ", "i"), ("abc", "x"))]
    return charsmap("", rows)


def t5(precompiled=None):
    return trained(models.Unigram(), unigram_trainer(),
                   normalizers.Sequence([normalizers.Precompiled(precompiled or small_charsmap()), normalizers.Strip(),
                                         normalizers.Replace(Regex(" {2,}"), " ")]),
                   pre_tokenizers.Metaspace(), decoder=decoders.Metaspace(),
                   post_processor=processors.TemplateProcessing("$A <s>", "$A <s> $B <s>", [("<s>", 1)]))


def xlm():
    return t5(charsmap("nmt_nfkc"))


def byte_unigram():
    def change(data):
        vocab = data["model"]["vocab"]
        vocab.extend([[f"<0x{byte:02X}>", -20.0 - byte / 16] for byte in range(256)])
        data["model"]["byte_fallback"] = True
    tokenizer = trained(models.Unigram(), unigram_trainer(400), normalizers.Nmt(),
                        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]))
    tokenizer = changed(tokenizer, change)
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    return tokenizer


def word_level():
    tokenizer = trained(models.WordLevel(unk_token="<unk>"),
                        trainers.WordLevelTrainer(vocab_size=500, special_tokens=["<unk>", "<pad>", "<s>"], show_progress=False),
                        normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]),
                        pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(False),
                                                 pre_tokenizers.Split(Regex("[aeiou]"), "merged_with_next")]))
    tokenizer.add_special_tokens([AddedToken("<extra>", single_word=True)])
    return tokenizer


def letters():
    tokenizer = trained(models.WordLevel(unk_token="<unk>"),
                        trainers.WordLevelTrainer(vocab_size=300, special_tokens=["<pad>", "<unk>", "|"], show_progress=False),
                        normalizers.Replace(" ", "|"), pre_tokenizers.Split(Regex(""), "isolated"), decoder=decoders.CTC())
    return tokenizer


KINDS = {
    "gpt2": gpt2, "roberta": roberta, "llama3": llama3, "qwen2": lambda: split_byte_level(QWEN2, normalizer=normalizers.NFC()),
    "o200k": lambda: split_byte_level(O200K), "kimi": lambda: split_byte_level(KIMI), "llama2": llama2, "mistral": mistral,
    "gemma": gemma, "unknown_bpe": unknown_bpe, "dropped_bpe": dropped_bpe, "clip": clip, "prefixed_bpe": prefixed_bpe,
    "bert": bert, "bert_cased": bert_cased, "t5": t5, "byte_unigram": byte_unigram, "word_level": word_level, "letters": letters,
}
LARGE_KINDS = {"xlm": xlm}
