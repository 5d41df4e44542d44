"""Makes the table of word vectors that the built-in embedder reads.

    python3 bench/search/train/train.py <tokens> <output file> [--dim 256] [--steps 60000] ...

<tokens> is what tokenize.mjs has written. Needs numpy and scipy, one core, about ten minutes. The vector of a text is the sum of
sqrt(count) times the vector of each of its words; both sides of a pair shall be nearer to each other than to the other pairs of a batch
(InfoNCE in both directions, Adagrad). How much a word counts is learned as the length of its vector.
"""

import argparse
import collections
import json
import os
import struct
import time

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
import numpy as np
from scipy import sparse

options = argparse.ArgumentParser()
options.add_argument('tokens')
options.add_argument('output')
options.add_argument('--dim', type=int, default=256)
options.add_argument('--vocabulary', type=int, default=20_000)
options.add_argument('--steps', type=int, default=60_000)
options.add_argument('--batch', type=int, default=128)
options.add_argument('--scale', type=float, default=12.0, help='how sharply a batch is told apart; 20 made long queries worse')
options.add_argument('--rate', type=float, default=0.1)
options.add_argument('--dropout', type=float, default=0.12, help='share of the words of each text that are left out')
options.add_argument('--ordered', default='paraphrases,botocore,openapi,mcplists,toucan,tldr')
options.add_argument('--block', type=int, default=16)
options.add_argument('--span', type=int, default=48)
options.add_argument('--blocked', type=float, default=0.5)
options.add_argument('--seed', type=int, default=1)
options.add_argument(
    '--sources',
    help='how often each source is drawn',
    default='paraphrases:3,metatool:2,wordnet:1.5,toucan:1.2,intents:1.2,botocore:1,tldr:1,mcplists:.7,docs:.7,'
    'openapi:.5,lists:.3,apibench:.15,toolalpaca:.1',
)
args = options.parse_args()
random = np.random.default_rng(args.seed)


def read(source):
    pairs = []
    with open(os.path.join(args.tokens, source + '.txt'), encoding='utf-8') as lines:
        for line in lines:
            a, b, tool = line.rstrip('\n').split('\t')
            pairs.append((a.split(' '), b.split(' '), tool))
    return pairs


ordered = set(args.ordered.split(','))
weights = {name: float(weight) for name, weight in (part.split(':') for part in args.sources.split(','))}
pairs = {name: read(name) for name in weights}

counts = collections.Counter()
for name, rows in pairs.items():
    for a, b, _ in rows:
        # The dictionary is large and says little about which words tools and queries use.
        for word in a + b:
            counts[word] += 0.25 if name == 'wordnet' else 1
vocabulary = [word for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[: args.vocabulary] if count >= 2]
row_of = {word: row for row, word in enumerate(vocabulary)}
total = sum(counts.values())


class Texts:
    """Many bags of words, one after the other."""

    def __init__(self, texts):
        starts, words, values = [0], [], []
        for text in texts:
            bag = collections.Counter(row_of[word] for word in text if word in row_of)
            words.extend(bag.keys())
            values.extend(count**0.5 for count in bag.values())
            starts.append(len(words))
        self.starts = np.array(starts, np.int64)
        self.words = np.array(words, np.int32)
        self.values = np.array(values, np.float32)
        ids = {}
        self.same = np.array([ids.setdefault(' '.join(text), len(ids)) for text in texts])

    def take(self, chosen):
        """Words, values and the position in the batch of the chosen texts, some words left out at random."""
        start = self.starts[chosen]
        length = self.starts[chosen + 1] - start
        at = np.repeat(start - np.concatenate(([0], np.cumsum(length)[:-1])), length) + np.arange(length.sum())
        kept = random.random(len(at)) > args.dropout
        return self.words[at][kept], self.values[at][kept], np.repeat(np.arange(len(chosen)), length)[kept]


def usable(rows):
    return [row for row in rows if all(any(w in row_of for w in side) for side in row[:2])]


sides = {}
for name, rows in pairs.items():
    rows = usable(rows)
    tools = {}
    # Rows without a tool come in twos (of a name, and of a description), so a neighbour may be the same operation.
    tool = np.array([tools.setdefault(tool, -1 - len(tools)) if tool else row for row, (_, _, tool) in enumerate(rows)])
    sides[name] = (Texts([a for a, _, _ in rows]), Texts([b for _, b, _ in rows]), len(rows), tool)
names = list(sides)
share = np.array([weights[name] for name in names])
share /= share.sum()

# Random directions; rare words start longer than frequent ones.
rarity = np.array([np.log(1 + total / (counts[word] + 1)) for word in vocabulary], np.float32)
table = random.standard_normal((len(vocabulary), args.dim)).astype(np.float32) / np.sqrt(args.dim)
table *= (rarity / rarity.mean())[:, None]
seen = np.full(len(vocabulary), 1e-3, np.float32)


def unit(rows):
    length = np.linalg.norm(rows, axis=1, keepdims=True) + 1e-6
    return rows / length, length


def through_unit(gradient, direction, length):
    return (gradient - direction * (gradient * direction).sum(1, keepdims=True)) / length


def softmax(scores, axis):
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def choose(name, size):
    """The rows of a batch; of a source in which neighbours belong to one service, some neighbours."""
    batch = min(args.batch, size)
    if name not in ordered or args.block < 2 or random.random() > args.blocked:
        return random.integers(0, size, batch)
    starts = random.integers(0, max(1, size - args.span), batch // args.block)
    return np.unique(starts[:, None] + random.integers(0, min(args.span, size), (len(starts), args.block)))


started = time.time()
mean_loss = None
for step in range(args.steps):
    rate = args.rate * (1 - step / args.steps) * min(1, (step + 1) / 200)
    name = names[random.choice(len(names), p=share)]
    left, right, size, tool = sides[name]
    chosen = choose(name, size)
    batch = len(chosen)
    words_a, values_a, text_a = left.take(chosen)
    words_b, values_b, text_b = right.take(chosen)
    rows, local = np.unique(np.concatenate([words_a, words_b]), return_inverse=True)
    bags_a = sparse.csr_matrix((values_a, (text_a, local[: len(words_a)])), shape=(batch, len(rows)))
    bags_b = sparse.csr_matrix((values_b, (text_b, local[len(words_a) :])), shape=(batch, len(rows)))
    a, length_a = unit(bags_a @ table[rows])
    b, length_b = unit(bags_b @ table[rows])
    scores = (a @ b.T) * np.float32(args.scale)
    # Pairs that share a side are no examples of what does not belong together.
    same = left.same[chosen][:, None] == left.same[chosen][None, :]
    same |= right.same[chosen][:, None] == right.same[chosen][None, :]
    same |= np.abs(tool[chosen][:, None] - tool[chosen][None, :]) <= (tool[chosen][:, None] >= 0)
    np.fill_diagonal(same, False)
    scores[same] = -1e4
    forward, backward = softmax(scores, 1), softmax(scores, 0)
    loss = -np.log(np.diag(forward) + 1e-9).mean()
    error = (forward + backward) / 2
    error[np.arange(batch), np.arange(batch)] -= 1
    error *= np.float32(args.scale / batch)
    change = bags_a.T @ through_unit(error @ b, a, length_a) + bags_b.T @ through_unit(error.T @ a, b, length_b)
    seen[rows] += (change * change).sum(1) / args.dim
    table[rows] -= rate * change / np.sqrt(seen[rows])[:, None]
    mean_loss = loss if mean_loss is None else 0.99 * mean_loss + 0.01 * loss
    if (step + 1) % 5_000 == 0:
        print(f'{time.time() - started:.0f} s, step {step + 1}, loss {mean_loss:.3f}', flush=True)

# Only directions between words matter, so rows keep their length and lose their precision.
scales = (np.abs(table).max(1) / 127).astype('<f4')
numbers = np.round(table / np.maximum(scales, 1e-12)[:, None]).astype(np.int8)
header = json.dumps(
    {'format': 'toolhub-words-1', 'dimensions': args.dim, 'vocabulary': ' '.join(vocabulary)}, ensure_ascii=False
).encode()
with open(args.output, 'wb') as file:
    file.write(struct.pack('<I', len(header)) + header + b'\0' * (-(4 + len(header)) % 4))
    file.write(scales.tobytes() + numbers.tobytes())
print(f'{args.output}: {len(vocabulary)} words, {os.path.getsize(args.output) / 1e6:.1f} MB')
