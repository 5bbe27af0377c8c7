"""Programs as users write them: models, decoding, boxes, tokenizers, losses, training inside a program."""
import math
from typing import Dict, Final, List, NamedTuple, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchscript_cases.support import Call, calls

G = torch.Generator().manual_seed(11)
X = torch.randn(2, 5, 8, generator=G)
IMG = torch.randn(2, 3, 16, 16, generator=G)
IDS = torch.tensor([[1, 4, 2, 9, 3], [2, 2, 7, 0, 0]])
BOXES = torch.tensor([[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 5.0, 5.0], [10.0, 10.0, 12.0, 14.0], [0.5, 0.0, 4.0, 3.5]])
SCORES = torch.tensor([0.9, 0.8, 0.7, 0.95])


class SelfAttention(nn.Module):
    scale: Final[float]
    heads: Final[int]

    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3)
        self.out = nn.Linear(dim, dim)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor, mask: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        scores = (q @ k.transpose(-2, -1)) * self.scale
        if mask is not None:
            scores = scores.masked_fill(mask[:, None, None, :] == 0, float("-inf"))
        weights = self.drop(scores.softmax(dim=-1))
        return self.out((weights @ v).transpose(1, 2).reshape(b, n, c)), weights


class Block(nn.Module):
    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = SelfAttention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, dim * 2), nn.GELU(), nn.Dropout(0.1), nn.Linear(dim * 2, dim))

    def forward(self, x: Tensor, mask: Optional[Tensor]) -> Tensor:
        y, _ = self.attn(self.norm1(x), mask)
        x = x + y
        return x + self.mlp(self.norm2(x))


@calls((IDS, None), Call(IDS, (IDS != 0).long(), grad=True), Call(IDS, None, mode="train", seed=3), eval=True)
class user_transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 8)
        self.pos = nn.Parameter(torch.randn(1, 16, 8) * 0.02)
        self.blocks = nn.ModuleList([Block(8, 2) for _ in range(2)])
        self.norm = nn.LayerNorm(8)
        self.head = nn.Linear(8, 10, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids: Tensor, mask: Optional[Tensor] = None) -> Dict[str, Tensor]:
        x = self.embed(ids) + self.pos[:, : ids.size(1)]
        hidden: List[Tensor] = [x]
        for block in self.blocks:
            x = block(x, mask)
            hidden.append(x)
        x = self.norm(x)
        return {"logits": self.head(x), "last": x, "mean": torch.stack(hidden).mean(dim=[0, 2])}


class Cache(NamedTuple):
    keys: Tensor
    values: Tensor
    length: int


@calls((IDS[:1, :2], 4), (IDS[:1], 0), eval=True)
class user_generate(nn.Module):
    """Greedy decoding with a cache of keys and values."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 8)
        self.q = nn.Linear(8, 8)
        self.k = nn.Linear(8, 8)
        self.v = nn.Linear(8, 8)
        self.head = nn.Linear(8, 10)

    def step(self, token: Tensor, cache: Optional[Cache]) -> Tuple[Tensor, Cache]:
        x = self.embed(token)
        k, v = self.k(x), self.v(x)
        if cache is not None:
            k = torch.cat([cache.keys, k], dim=1)
            v = torch.cat((cache.values, v), 1)
        w = torch.softmax(self.q(x) @ k.transpose(1, 2) / math.sqrt(8.0), dim=-1)
        n = 0 if cache is None else cache.length
        return self.head(w @ v)[:, -1], Cache(k, v, n + token.size(1))

    def forward(self, ids: Tensor, steps: int):
        logits, cache = self.step(ids, None)
        out: List[int] = []
        for _ in range(steps):
            best = int(logits.argmax(-1).item())
            out.append(best)
            if best == 0:
                break
            logits, cache = self.step(torch.tensor([[best]]), cache)
        return out, cache.length, cache.keys.shape, logits


@calls((torch.randn(6, 4, generator=G).log_softmax(-1), 3), (torch.randn(2, 4, generator=G).log_softmax(-1), 1))
def user_beam_search(scores: Tensor, width: int) -> List[Tuple[float, List[int]]]:
    beams: List[Tuple[float, List[int]]] = [(0.0, torch.jit.annotate(List[int], []))]
    for t in range(scores.size(0)):
        grown: List[Tuple[float, List[int]]] = []
        for total, path in beams:
            for v in range(scores.size(1)):
                grown.append((total + float(scores[t, v]), path + [v]))
        order = torch.tensor([s for s, _ in grown]).argsort(descending=True)
        beams = [grown[int(i)] for i in order[:width]]
    return beams


@calls((torch.tensor([[0, 1, 1, 0, 2], [2, 2, 0, 3, 3]]), 0))
def user_ctc_collapse(ids: Tensor, blank: int) -> List[List[int]]:
    out: List[List[int]] = []
    for row in ids:
        line: List[int] = []
        last = -1
        for value in row:
            i = int(value)
            if i != blank and i != last:
                line.append(i)
            last = i
        out.append(line)
    return out


def box_area(boxes: Tensor) -> Tensor:
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def box_iou(a: Tensor, b: Tensor) -> Tensor:
    lt = torch.max(a[:, None, :2], b[:, :2])
    rb = torch.min(a[:, None, 2:], b[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, :, 0] * wh[:, :, 1]
    return inter / (box_area(a)[:, None] + box_area(b) - inter)


@calls((BOXES, SCORES, 0.4), (BOXES, SCORES, 0.99), (BOXES[:0], SCORES[:0], 0.5))
def user_nms(boxes: Tensor, scores: Tensor, limit: float) -> Tensor:
    order = scores.argsort(descending=True)
    keep: List[Tensor] = []
    while order.numel() > 0:
        best = order[0]
        keep.append(best)
        if order.numel() == 1:
            break
        rest = order[1:]
        iou = box_iou(boxes[best][None], boxes[rest])[0]
        order = rest[iou <= limit]
    if len(keep) == 0:
        return torch.zeros([0], dtype=torch.int64)
    return torch.stack(keep)


class Detection(NamedTuple):
    boxes: Tensor
    labels: List[str]
    scores: Tensor


@calls((BOXES[None].repeat(2, 1, 1), torch.stack([SCORES, SCORES.flip(0)]), 0.75))
class user_detections(nn.Module):
    def __init__(self):
        super().__init__()
        self.names = ["cat", "dog"]
        self.register_buffer("anchors", torch.tensor([1.0, 2.0]))

    def forward(self, boxes: Tensor, scores: Tensor, limit: float) -> List[Dict[str, Tensor]]:
        out: List[Dict[str, Tensor]] = []
        for b, s in zip(boxes, scores):
            found = self.select(b, s, limit)
            n = len(found.labels)
            if n > 0:
                out.append({"boxes": found.boxes, "scores": found.scores, "n": torch.tensor(n)})
        return out

    def select(self, boxes: Tensor, scores: Tensor, limit: float) -> Detection:
        keep = torch.where(scores > limit)[0]
        labels: List[str] = []
        for i in keep.tolist_() if False else keep:
            labels.append(self.names[int(i) % len(self.names)])
        widths = boxes[keep, 2] - boxes[keep, 0]
        return Detection(boxes[keep] * self.anchors[0], labels, scores[keep] * (widths > 0).float())


@calls(("The quick brown fox, the LAZY dog!",), ("",), ("unknown   words  here",))
class user_tokenizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.vocab: Dict[str, int] = {"<unk>": 0, "<s>": 1, "the": 2, "quick": 3, "fox": 4, "dog": 5, ",": 6, "!": 7, "##wn": 8, "bro": 9}
        self.inverse: Dict[int, str] = {v: k for k, v in self.vocab.items()}
        self.max_len = 12

    def pieces(self, word: str) -> List[str]:
        out: List[str] = []
        start = 0
        while start < len(word):
            end = len(word)
            found = ""
            while end > start:
                piece = word[start:end]
                if start > 0:
                    piece = "##" + piece
                if piece in self.vocab:
                    found = piece
                    break
                end -= 1
            if found == "":
                return ["<unk>"]
            out.append(found)
            start = end
        return out

    def forward(self, text: str) -> Tuple[Tensor, str, List[str]]:
        words: List[str] = []
        word = ""
        for c in text.lower():
            if c.isspace():
                if len(word) > 0:
                    words.append(word)
                word = ""
            elif not c.isalnum():
                if word != "":
                    words.append(word)
                words.append(c)
                word = ""
            else:
                word += c
        if word:
            words.append(word)
        ids = [self.vocab["<s>"]]
        for w in words:
            for p in self.pieces(w):
                ids.append(self.vocab.get(p, 0))
        ids = ids[: self.max_len]
        return torch.tensor(ids), " ".join([self.inverse[i] for i in ids]), words


@calls((["b a", "a c a", ""],))
def user_vocabulary(lines: List[str]):
    counts: Dict[str, int] = {}
    for line in lines:
        for w in line.split():
            if w not in counts:
                counts[w] = 0
            counts[w] += 1
    order = sorted(counts.keys())
    best = ""
    for w in order:
        if best == "" or counts[w] > counts[best]:
            best = w
    table = {w: i for i, w in enumerate(order)} if False else counts
    return order, best, table, "|".join([w + "=" + str(counts[w]) for w in order])


@calls(Call(torch.randn(4, 3, generator=G).requires_grad_(), torch.tensor([0, 2, 1, 1]), grad=True),
       Call(torch.randn(4, 3, generator=G).requires_grad_(), torch.tensor([0, -100, 1, 1]), grad=True))
class user_focal_loss(nn.Module):
    weight: Optional[Tensor]

    def __init__(self):
        super().__init__()
        self.gamma = 2.0
        self.reduction = "mean"
        self.register_buffer("weight", torch.tensor([1.0, 2.0, 0.5]))

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        keep = target != -100
        logp = F.log_softmax(logits[keep], dim=-1)
        t = target[keep]
        picked = logp.gather(1, t.unsqueeze(1)).squeeze(1)
        loss = -((1 - picked.exp()) ** self.gamma) * picked
        w = self.weight
        if w is not None:
            loss = loss * w[t]
        if self.reduction == "mean":
            return loss.mean()
        elif self.reduction == "sum":
            return loss.sum()
        return loss


@calls(Call(torch.randn(3, 4, generator=G).requires_grad_(), torch.randn(3, 4, generator=G), grad=True))
def user_losses(x: Tensor, y: Tensor):
    return (F.huber_loss(x, y), F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean"), F.binary_cross_entropy_with_logits(x, y.sigmoid()),
            F.l1_loss(x, y, reduction="sum"), F.cosine_embedding_loss(x, y, torch.ones(3)), F.triplet_margin_loss(x, y, x * 0.5),
            F.poisson_nll_loss(x, y.abs()), F.hinge_embedding_loss(x, y.sign()),
            F.soft_margin_loss(x, y.sign()), F.margin_ranking_loss(x[0], x[1], y[0].sign()), F.nll_loss(x.log_softmax(1), torch.tensor([1, 0, 3])))


@calls((torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([[2.0], [4.0], [6.0]]), 20))
def user_gradient_descent(x: Tensor, y: Tensor, steps: int):
    w = torch.zeros(1, 1).requires_grad_(True)
    b = torch.zeros(1).requires_grad_(True)
    losses: List[float] = []
    for _ in range(steps):
        loss = ((x @ w + b - y) ** 2).mean()
        loss.backward()
        losses.append(loss.item())
        gw, gb = w.grad, b.grad
        assert gw is not None and gb is not None
        with torch.no_grad():
            w -= 0.05 * gw
            b -= 0.05 * gb
            gw.zero_()
            gb.zero_()
    return w.detach(), b.detach(), losses[0], losses[-1]


@calls(Call(X, None, grad=True), Call(X, (torch.zeros(2, 6), torch.ones(2, 6))))
class user_lstm_layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.ih = nn.Parameter(torch.randn(24, 8) * 0.3)
        self.hh = nn.Parameter(torch.randn(24, 6) * 0.3)
        self.bias = nn.Parameter(torch.zeros(24))

    def forward(self, x: Tensor, state: Optional[Tuple[Tensor, Tensor]] = None) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        if state is None:
            zeros = x.new_zeros(x.size(0), 6)
            state = (zeros, zeros)
        h, c = state
        outs = torch.jit.annotate(List[Tensor], [])
        for t in range(x.size(1)):
            gates = x[:, t] @ self.ih.t() + h @ self.hh.t() + self.bias
            i, f, g, o = gates.chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            outs += [h]
        return torch.stack(outs, dim=1), (h, c)


class ConvBNReLU(nn.Sequential):
    def __init__(self, i: int, o: int, k: int = 3, stride: int = 1, groups: int = 1):
        super().__init__(nn.Conv2d(i, o, k, stride, (k - 1) // 2, groups=groups, bias=False), nn.BatchNorm2d(o), nn.ReLU6(inplace=True))


class InvertedResidual(nn.Module):
    def __init__(self, i: int, o: int, stride: int, expand: int):
        super().__init__()
        hidden = i * expand
        self.use_res = stride == 1 and i == o
        layers: List[nn.Module] = []
        if expand != 1:
            layers.append(ConvBNReLU(i, hidden, 1))
        layers += [ConvBNReLU(hidden, hidden, 3, stride, hidden), nn.Conv2d(hidden, o, 1, bias=False), nn.BatchNorm2d(o)]
        self.conv = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        if self.use_res:
            return x + self.conv(x)
        else:
            return self.conv(x)


class SqueezeExcite(nn.Module):
    def __init__(self, c: int):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Sequential(nn.Conv2d(c, c // 2, 1), nn.Hardswish(), nn.Conv2d(c // 2, c, 1), nn.Hardsigmoid())

    def forward(self, x):
        return x * self.fc(self.pool(x))


def backbone() -> nn.Module:
    return nn.Sequential(ConvBNReLU(3, 4, 3, 2), InvertedResidual(4, 4, 1, 1), InvertedResidual(4, 6, 2, 2), SqueezeExcite(6))


@calls((IMG,), Call(IMG, grad=True, mode="train"), eval=True)
class user_mobilenet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = backbone()
        self.classifier = nn.Sequential(nn.Dropout(0.0), nn.Linear(6, 4))

    def _forward_impl(self, x: Tensor) -> Tensor:
        x = self.features(x)
        x = F.adaptive_avg_pool2d(x, (1, 1)).reshape(x.shape[0], -1)
        return self.classifier(x)

    def forward(self, x: Tensor) -> Tensor:
        return self._forward_impl(x)


@calls((IMG,), freeze=True)
class user_mobilenet_frozen(user_mobilenet):
    pass


@calls((IMG,), optimize=True, tol=[1e-4, 1e-5])
class user_mobilenet_optimized(user_mobilenet):
    pass


@calls((IMG,), (IMG[:1],), trace=(IMG,), eval=True)
class user_mobilenet_traced(user_mobilenet):
    pass


@calls((IMG,), trace=(IMG,), eval=True, freeze=True)
class user_mobilenet_traced_frozen(user_mobilenet):
    pass


@calls((IMG,), eval=True)
class user_unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 6, 3, padding=1)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(6, 4, 2, 2), nn.ConvTranspose2d(8, 3, 2, 2)])
        self.last = nn.Conv2d(6, 2, 1)

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        skips: List[Tensor] = []
        for d in self.down:
            x = F.leaky_relu(d(x), 0.1)
            skips.append(x)
            x = F.max_pool2d(x, 2)
        bottom = x
        skips = skips[::-1]
        for i, u in enumerate(self.up):
            x = u(x)
            if x.shape[-2:] == skips[i].shape[-2:]:
                x = torch.cat([x, skips[i]], dim=1) if i == 0 else torch.cat([x, skips[i][:, :3]], 1)
        return {"out": self.last(x), "bottom": F.interpolate(bottom, size=[8, 8], mode="bilinear", align_corners=False)}


@calls((IMG, [16, 12]), (IMG[:, :, :10], [5, 7]))
class user_preprocess(nn.Module):
    mean: List[float]

    def __init__(self):
        super().__init__()
        self.mean = [0.485, 0.456, 0.406]
        self.std = [0.229, 0.224, 0.225]

    def forward(self, x: Tensor, size: List[int]) -> Tuple[Tensor, List[Tuple[int, int]]]:
        h, w = x.shape[-2:]
        scale = min(size[0] / h, size[1] / w)
        new = [int(math.floor(h * scale)), int(math.floor(w * scale))]
        y = F.interpolate(x, size=new, mode="bilinear", align_corners=False)
        mean = torch.as_tensor(self.mean, dtype=y.dtype, device=y.device)
        std = torch.as_tensor(self.std, dtype=y.dtype, device=y.device)
        y = (y - mean[:, None, None]) / std[:, None, None]
        pad = [0, size[1] - new[1], 0, size[0] - new[0]]
        out = F.pad(y, pad, value=0.5)
        out[..., -1] = 0
        return out, [(int(s[0]), int(s[1])) for s in [torch.tensor([h, w])]]


@calls((torch.randn(2, 10, 3, generator=G), torch.tensor([10, 6])), eval=True)
class user_packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True)

    def forward(self, x: Tensor, lengths: Tensor):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
        out, (h, _) = self.rnn(packed)
        y, n = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
        return y, n, h


@calls(Call(X, grad=True), Call(X, mode="train", seed=5), eval=True)
class user_encoder(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 12, dropout=0.1, batch_first=True, norm_first=True, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoderLayer(8, 2, 12, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        y = self.encoder(x)
        return self.decoder(x[:, :3], y)


@calls((torch.randn(1, 2, 20, generator=G),))
class user_wavenet(nn.Module):
    def __init__(self):
        super().__init__()
        self.filters = nn.ModuleList([nn.Conv1d(2, 2, 2, dilation=2 ** i) for i in range(3)])
        self.gates = nn.ModuleList([nn.Conv1d(2, 2, 2, dilation=2 ** i) for i in range(3)])
        self.dilations = [2 ** i for i in range(3)]

    def forward(self, x: Tensor) -> Tensor:
        total = torch.zeros_like(x)
        for i, (f, g) in enumerate(zip(self.filters, self.gates)):
            padded = F.pad(x, (self.dilations[i], 0))
            y = torch.tanh(f(padded)) * torch.sigmoid(g(padded))
            total = total + y
            x = x + y
        return F.relu(total)


@calls((X[0], torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])))
class user_graph_net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(16, 8)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        src, dst = edges[0], edges[1]
        for _ in range(2):
            msg = self.lin(torch.cat([x[src], x[dst]], -1)).relu()
            agg = torch.zeros_like(x).index_add_(0, dst, msg)
            deg = torch.zeros(x.size(0)).scatter_add(0, dst, torch.ones(dst.size(0))).clamp(min=1)
            x = agg / deg.unsqueeze(-1)
        return x


@calls(Call(X[:, 0], mode="train", seed=4), Call(X[:, 1], cont=True, mode="eval"), Call(m="usage", cont=True))
class user_vector_quantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("book", torch.randn(4, 8))
        self.register_buffer("counts", torch.zeros(4, dtype=torch.long))
        self.decay: float = 0.9

    def forward(self, x: Tensor):
        d = x.pow(2).sum(1, keepdim=True) - 2 * x @ self.book.t() + self.book.pow(2).sum(1)
        ids = d.argmin(1)
        if self.training:
            one = F.one_hot(ids, 4).to(x.dtype)
            self.counts += one.sum(0).long()
            means = one.t() @ x / one.sum(0).clamp(min=1)[:, None]
            self.book.mul_(self.decay).add_(means, alpha=1 - self.decay)
        q = self.book[ids]
        return x + (q - x).detach(), ids, F.mse_loss(q, x)

    @torch.jit.export
    def usage(self) -> List[int]:
        out: List[int] = self.counts.tolist()
        return out


class Expert(nn.Module):
    def __init__(self, k: float):
        super().__init__()
        self.k = k
        self.fc = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(x) * self.k


@calls(Call(X[0], grad=True))
class user_mixture_of_experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 3)
        self.experts = nn.ModuleList([Expert(float(i + 1)) for i in range(3)])

    def forward(self, x: Tensor):
        weights, picked = self.gate(x).softmax(-1).topk(2, dim=-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows, slots = torch.where(picked == i)
            if rows.numel() > 0:
                out.index_add_(0, rows, expert(x[rows]) * weights[rows, slots, None])
        return out, picked


@calls((X,), (X[:, :2],))
class user_script_with_trace(nn.Module):
    def __init__(self):
        super().__init__()
        self.traced = torch.jit.trace(nn.Sequential(nn.Linear(8, 4), nn.Tanh()), torch.randn(2, 8))
        self.fn = torch.jit.trace(lambda a, b: a * b.sum(), (torch.ones(2), torch.ones(3)))

    def forward(self, x: Tensor) -> List[Tensor]:
        out: List[Tensor] = []
        for t in range(x.size(1)):
            out.append(self.fn(self.traced(x[:, t]), x[0, t]))
        return out


@torch.jit.script
def scripted_gate(x: Tensor, limit: float = 0.5) -> Tensor:
    if bool(x.mean() > limit):
        return x * 2
    return -x


@calls((X,), (X + 5,), trace=(X,))
class user_trace_with_script(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.jit.script(Expert(0.5))

    def forward(self, x):
        return scripted_gate(self.inner(x)), (x.sum(), [x[0], x[1]])


@calls((X[0],), Call(X[0] * 3, m="score"), Call(X[0], m="score"))
class user_exported(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self._norm(self.fc(x))

    def _norm(self, x: Tensor) -> Tensor:
        return x / (x.norm(p=2, dim=-1, keepdim=True) + 1e-6)

    @torch.jit.export
    def score(self, x: Tensor) -> Dict[str, float]:
        y = self.forward(x)
        if y.max() > 0.99:
            return {"max": float(y.max()), "n": float(y.numel())}
        return {"min": float(y.min())}

    @torch.jit.ignore
    def plot(self, x: Tensor) -> None:
        print("not scripted", x)


@calls((X[0], 3), (X[0], -1))
class user_validation(nn.Module):
    def forward(self, x: Tensor, k: int) -> Tensor:
        if x.dim() != 2:
            raise ValueError("expected 2 dimensions, got {}".format(x.dim()))
        if k < 0:
            raise ValueError(f"k must not be negative: {k}, {x.shape}")
        assert x.size(-1) == 8, "bad size"
        return x[:k]


@calls((["a=1", "b=2,c=3", ""],), (["bad"],))
def user_parse_settings(lines: List[str]) -> Dict[str, int]:
    out: Dict[str, int] = {}
    for line in lines:
        if len(line) == 0:
            continue
        for part in line.split(","):
            pair = part.split("=")
            if len(pair) != 2:
                raise RuntimeError("bad setting '" + part + "'")
            key, value = pair[0].strip(), pair[1]
            out[key] = int(value)
    return out


@calls(("3 + 4 * ( 2 - 1 )",), ("10 / 4",), ("2 * ( 1",))
def user_calculator(text: str) -> float:
    rank = {"+": 1, "-": 1, "*": 2, "/": 2}
    values: List[float] = []
    ops: List[str] = []
    tokens = text.split()
    tokens.append("$")
    for t in tokens:
        if t.isdigit():
            values.append(float(t))
        elif t == "(":
            ops.append(t)
        else:
            while len(ops) > 0 and ops[-1] != "(" and (t == ")" or t == "$" or rank[ops[-1]] >= rank[t]):
                op = ops.pop()
                b = values.pop()
                a = values.pop()
                if op == "+":
                    values.append(a + b)
                elif op == "-":
                    values.append(a - b)
                elif op == "*":
                    values.append(a * b)
                else:
                    values.append(a / b)
            if t == ")":
                ops.pop()
            elif t != "$":
                ops.append(t)
    assert len(ops) == 0, "unbalanced"
    return values[0]


@calls(("kitten", "sitting"), ("", "abc"))
def user_edit_distance(a: str, b: str) -> int:
    row = [i for i in range(len(b) + 1)]
    for i in range(1, len(a) + 1):
        last = row[0]
        row[0] = i
        for j in range(1, len(b) + 1):
            keep = row[j]
            row[j] = min(min(row[j] + 1, row[j - 1] + 1), last + (0 if a[i - 1] == b[j - 1] else 1))
            last = keep
    return row[-1]


@calls((torch.tensor([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]]),))
def user_viterbi(scores: Tensor) -> Tuple[float, List[int]]:
    n, m = scores.size(0), scores.size(1)
    best = scores[0]
    back: List[Tensor] = []
    for t in range(1, n):
        total = best.unsqueeze(1) + scores[t].unsqueeze(0)
        best, arg = total.max(dim=0)
        back.append(arg)
    path = [int(best.argmax())]
    for arg in back[::-1]:
        path.append(int(arg[path[-1]]))
    path.reverse()
    return best.max().item(), path


@calls((X[0], 2), (X[0], 0))
def user_kmeans(x: Tensor, k: int) -> Tuple[Tensor, Tensor]:
    assert k > 0, "k is {}".format(k)
    centers = x[:k].clone()
    labels = torch.zeros(x.size(0), dtype=torch.long)
    for it in range(5):
        labels = torch.cdist(x, centers).argmin(dim=1)
        for j in range(k):
            mine = x[labels == j]
            if mine.size(0) > 0:
                centers[j] = mine.mean(0)
    return centers, labels


@calls((X,), (X.double(),), (X.half(),))
def user_rms_norm(x: Tensor, eps: float = 1e-6):
    dtype = x.dtype
    y = x.to(torch.float32)
    y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + eps)
    return y.to(dtype), torch.finfo(torch.float32).eps if False else eps


@calls((torch.randn(1, 2, 6, 4, generator=G),))
def user_rotary(x: Tensor):
    n, d = x.size(-2), x.size(-1)
    inv = 1.0 / (10000.0 ** (torch.arange(0, d, 2).float() / d))
    angles = torch.outer(torch.arange(n).float(), inv)
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


@calls((X,))
def user_attention_functions(x: Tensor):
    m = torch.ones(5, 5).tril() == 1
    bias = torch.zeros(5, 5).masked_fill(~m, float("-inf"))
    return (F.scaled_dot_product_attention(x, x, x), F.scaled_dot_product_attention(x, x, x, attn_mask=bias),
            F.scaled_dot_product_attention(x, x, x, is_causal=True), torch.baddbmm(bias, x, x.transpose(1, 2)), torch.triu(bias, 1).isinf().sum())


@calls(Call(4, seed=1), Call(4, 0.3, seed=2))
def user_sampling(n: int, temperature: float = 1.0):
    logits = torch.randn(n, 5)
    p = (logits / temperature).softmax(-1)
    picked = torch.multinomial(p, 1)
    noise = torch.rand_like(p)
    top = torch.topk(p, 2).values
    cut = p.masked_fill(p < top[:, -1:], 0.0)
    return picked, noise, cut / cut.sum(-1, keepdim=True), F.gumbel_softmax(logits, 0.5, False)
