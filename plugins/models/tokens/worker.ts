import { parentPort } from 'node:worker_threads'
import { RpcPort } from '#kit'
import type { TokenizerFile } from './files/file.ts'
import { type FileTokenizer, openTokenizerFile } from './files/open.ts'
import { countRequest } from './request.ts'
import type { TokenMethods } from './thread.ts'
import { Tokenizers } from './tokenizers.ts'

const tokenizers = new Tokenizers()
const files = new Map<string, Promise<FileTokenizer>>()

/** The other side of the counter: a thread of its own, where vocabularies may take their time to load. */
new RpcPort<Record<never, never>, TokenMethods>(parentPort!, {
  async count({ file, request, texts }) {
    const tokenizer = file ? await open(file) : await tokenizers.load(request.model)
    const output = texts.reduce((sum, text) => sum + tokenizer.count(text), 0)
    return { input: countRequest(request, tokenizer), output }
  },
  open: async ({ file }) => (await open(file)).facts,
})

function open(file: TokenizerFile): Promise<FileTokenizer> {
  const opened = files.get(file.name) ?? openTokenizerFile(file)
  files.set(file.name, opened)
  opened.catch(() => files.delete(file.name))
  return opened
}
