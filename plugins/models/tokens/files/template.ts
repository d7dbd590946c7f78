import path from 'node:path'
import { z } from 'zod'
import { type TokenizerFile, TokenizerFileError } from './file.ts'
import { present, readBounded, readJson } from './read.ts'

const mostTemplateBytes = 2 ** 20
/** Some repeat every token that was added to the vocabulary. */
const mostConfigBytes = 16 * 2 ** 20

/** A chat template of the operator's, and the control tokens that it may name. */
export interface FoundTemplate {
  readonly file: string
  readonly source: string
  readonly values: Readonly<Record<string, string>>
}

const named = z.object({ name: z.string(), template: z.string() })
const format = z.looseObject({ chat_template: z.union([z.string(), z.array(named)]).nullish() })

/**
 * The template of conversations: the one that service.yaml names, else `chat_template.jinja` beside the tokenizer, else
 * the one in `tokenizer_config.json` there; undefined when there is none. Throws a TokenizerFileError.
 */
export async function findTemplate({
  file,
  chatTemplate,
}: TokenizerFile): Promise<FoundTemplate | undefined> {
  const folder = path.dirname(file)
  if (chatTemplate?.endsWith('.json')) {
    const { template, values } = present(await readConfig(chatTemplate), chatTemplate)
    if (template === undefined) throw new TokenizerFileError(chatTemplate, 'it has no chat_template')
    return { file: chatTemplate, source: template, values }
  }
  const configFile = path.join(folder, 'tokenizer_config.json')
  const config = await readConfig(configFile)
  const templateFile = chatTemplate ?? path.join(folder, 'chat_template.jinja')
  const own = await readBounded(templateFile, mostTemplateBytes)
  const source = chatTemplate === undefined ? (own ?? config?.template) : present(own, chatTemplate)
  if (source === undefined) return undefined
  const missing = config ? undefined : /\b(?:bos|eos)_token\b/.exec(source)?.[0]
  if (missing !== undefined) {
    const reason = `it uses ${missing}: put the tokenizer_config.json that defines it beside ${file}`
    throw new TokenizerFileError(templateFile, reason)
  }
  return { file: own === undefined ? configFile : templateFile, source, values: config?.values ?? {} }
}

interface TokenizerConfig {
  readonly template: string | undefined
  readonly values: Readonly<Record<string, string>>
}

async function readConfig(file: string): Promise<TokenizerConfig | undefined> {
  const json = await readJson(file, mostConfigBytes)
  if (json === undefined) return undefined
  const { data } = format.safeParse(json)
  if (!data) throw new TokenizerFileError(file, 'it is not a tokenizer_config.json')
  const { chat_template: chat } = data
  const listed = Array.isArray(chat) ? (chat.find(({ name }) => name === 'default') ?? chat[0]) : undefined
  const values = Object.entries(data).flatMap(([key, value]) => {
    const token = tokenOf(value)
    return key.endsWith('_token') && token !== undefined ? [[key, token] as const] : []
  })
  return {
    template: typeof chat === 'string' ? chat : listed?.template,
    values: Object.fromEntries(values),
  }
}

/** A control token is written as its text, or as an object around it. */
function tokenOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  const { content } = (value ?? {}) as { readonly content?: unknown }
  return typeof content === 'string' ? content : undefined
}
