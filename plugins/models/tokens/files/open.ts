import type { ModelRequest } from '#kernel'
import { compileTemplate } from '../chat-template.ts'
import type { Tokenizer } from '../tokenizer.ts'
import { reasonOf, type TokenizerFile, TokenizerFileError } from './file.ts'
import { findTemplate } from './template.ts'
import { openFileVocabulary } from './vocabulary.ts'

/** A tokenizer from a file. */
export interface FileTokenizer extends Tokenizer {
  readonly facts: FileFacts
}

/** The facts of a file that its check shows. */
export interface FileFacts {
  /** Tokens of its vocabulary. */
  readonly tokens: number
  /** Whether conversations are counted by a template; else they are estimated. */
  readonly conversations: boolean
  /** Whether the template carries tools. */
  readonly tools: boolean
}

/**
 * Opens a tokenizer that the operator brings, and tries it. Throws a TokenizerFileError that names the bad file and the reason.
 * A file may cost any time and memory: run this in a thread that can be ended.
 */
export async function openTokenizerFile(entry: TokenizerFile): Promise<FileTokenizer> {
  const { count, countPrompt, tokens } = await openFileVocabulary(entry.file)
  await tried(entry.file, async () => {
    if (count('Hello, world!') === 0) throw new Error('it counts nothing of a text')
  })
  const found = await findTemplate(entry)
  const tools = found !== undefined && /\btools\b/.test(found.source)
  const facts = { tokens, conversations: found !== undefined, tools }
  const texts = { name: entry.name, published: true, count, facts }
  if (!found) return texts
  const use = { values: found.values, tools, parsesArguments: true }
  return tried(found.file, async () => {
    const conversation = await compileTemplate(found.source, use, countPrompt)
    if (!conversation(hello)) throw new Error('it cannot render a plain question')
    return { ...texts, conversation }
  })
}

const hello: ModelRequest = { model: '', messages: [{ role: 'user', content: 'Hello' }] }

async function tried<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new TokenizerFileError(file, `it cannot be used: ${reasonOf(error)}`)
  }
}
