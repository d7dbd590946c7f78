import { parentPort } from 'node:worker_threads'
import { contain } from '#kit'
import { reasonOf, type TokenizerFile } from './files/file.ts'
import { type FileTokenizer, openTokenizerFile } from './files/open.ts'
import { countRequest } from './request.ts'
import type { Answer, Task } from './thread.ts'
import { Tokenizers } from './tokenizers.ts'

const tokenizers = new Tokenizers()
const files = new Map<string, Promise<FileTokenizer>>()

/** The other side of the counter: a thread of its own, where vocabularies may take their time to load. */
const count = contain('a count of tokens', async (task: Task) => {
  parentPort?.postMessage(await answerTo(task).catch(failureOf))
})
const refuse = contain('a count of tokens', (error: unknown) => parentPort?.postMessage(failureOf(error)))
parentPort?.on('message', count)
parentPort?.on('messageerror', refuse)

function failureOf(error: unknown): Answer {
  return { problem: reasonOf(error), broke: false }
}

async function answerTo(task: Task): Promise<Answer> {
  if (!('request' in task)) return (await open(task.file)).facts
  const { file, request, texts } = task
  const tokenizer = file ? await open(file) : await tokenizers.load(request.model)
  const output = texts.reduce((sum, text) => sum + tokenizer.count(text), 0)
  return { input: countRequest(request, tokenizer), output }
}

function open(file: TokenizerFile): Promise<FileTokenizer> {
  const opened = files.get(file.name) ?? openTokenizerFile(file)
  files.set(file.name, opened)
  opened.catch(() => files.delete(file.name))
  return opened
}
