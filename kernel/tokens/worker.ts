import { parentPort } from 'node:worker_threads'
import type { Counted, Task } from './counter.ts'
import { countRequest } from './request.ts'
import { Tokenizers } from './tokenizers.ts'

const tokenizers = new Tokenizers()

/** The other side of the counter: a thread of its own, where vocabularies may take their time to load. */
parentPort?.on('message', async ({ id, request, texts }: Task) => {
  const tokenizer = await tokenizers.load(request.model)
  const output = texts.reduce((sum, text) => sum + tokenizer.count(text), 0)
  parentPort?.postMessage({ id, input: countRequest(request, tokenizer), output } satisfies Counted)
})
