import path from 'node:path'
import type { Config } from '../../../config/config.ts'
import type { SettingChange } from '../../../config/setting.ts'
import { sections } from '../../../plugins/models/sections.ts'
import { type CheckedFile, TokenCounter } from '../../../plugins/models/tokens/counter.ts'
import { configuredTokenizers } from '../../../plugins/models/tokens/files/configured.ts'
import { type Check, failed, ok } from './result.ts'

/** Whether the tokenizers of the operator's can be used, and what each counts. */
export async function checkTokenizers(
  { file }: Pick<Config, 'file'>,
  configured: Readonly<Record<string, SettingChange>>,
): Promise<Check[]> {
  const { tokenizers } = sections.parse(configured.models?.config ?? {})
  const folder = file ? path.dirname(file) : process.cwd()
  const counter = new TokenCounter({ files: configuredTokenizers(tokenizers, folder) })
  return (await counter.check()).map(resultOf)
}

function resultOf({ file: { name, models }, found }: CheckedFile): Check {
  if ('problem' in found) return failed(`tokenizer ${name}`, found.problem)
  const { tokens, conversations, tools } = found
  const chat = conversations
    ? `conversations ${tools ? 'and tools' : 'without tools'} by its template`
    : 'conversations are estimated, because there is no chat template'
  return ok(`tokenizer ${name}`, `${tokens} tokens, for ${models.join(', ')}; ${chat}.`)
}
