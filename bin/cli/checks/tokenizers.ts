import type { Config } from '../../../kernel/config.ts'
import { type CheckedFile, TokenCounter } from '../../../kernel/tokens/counter.ts'
import { configuredTokenizers } from '../../../kernel/tokens/files/configured.ts'
import { type Check, failed, ok } from './result.ts'

/** Whether the tokenizers of the operator's can be used, and what each counts. */
export async function checkTokenizers(config: Config): Promise<Check[]> {
  const counter = new TokenCounter({ files: configuredTokenizers(config) })
  return (await counter.check()).map(resultOf)
}

function resultOf({ file: { name, models }, found }: CheckedFile): Check {
  if ('problem' in found) return failed(`tokenizer ${name}`, found.problem)
  const { tokens, conversations, tools } = found
  const chat = conversations
    ? `conversations ${tools ? 'and tools' : 'without tools'} by its template`
    : 'conversations are estimated, there is no chat template'
  return ok(`tokenizer ${name}`, `${tokens} tokens, for ${models.join(', ')}; ${chat}.`)
}
