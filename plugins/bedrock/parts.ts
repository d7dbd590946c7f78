import { badRequest, type ContentPart, type Message } from '#kernel'
import type { Changes } from '#provider'
import { type File, fileAt } from './media.ts'
import type { ModelFacts } from './models.ts'
import type { Block } from './wire.ts'

type Fields = Readonly<Record<string, unknown>>

/** The surroundings that a conversation's parts share. */
export interface Scene {
  readonly facts: ModelFacts
  readonly changes: Changes
  /** Names of documents that are taken: they must differ. */
  readonly documents: Set<string>
}

/** A message's content as blocks. Blank texts, which the service refuses, are left out. */
export function blocksOf(content: Message['content'], at: string, scene: Scene): Block[] {
  if (typeof content === 'string') return isBlank(content) ? [] : [{ text: content }]
  return (content ?? []).flatMap((part, i) => {
    const block = blockOf(part, `${at}.${i}`, scene)
    return block ? [block, ...cachePoints((part as Fields).cache_control, scene)] : []
  })
}

/** The mark that all before it may be kept in a cache; none where a model keeps none. */
export function cachePoints(control: unknown, { facts, changes }: Scene): Block[] {
  if (control === undefined || control === null) return []
  if (facts.caches === 'no') {
    changes.add('-cache_control')
    return []
  }
  const { ttl } = control as { ttl?: unknown }
  const asked = typeof ttl === 'string' && ttl !== '5m'
  if (asked && facts.caches === 'yes') changes.add('-cache_control.ttl')
  return [{ cachePoint: { type: 'default', ...(asked && facts.caches === 'hour' && { ttl }) } }]
}

function blockOf(part: ContentPart, at: string, scene: Scene): Block | undefined {
  const fields = part as Fields
  switch (part.type) {
    case 'text':
      return isBlank(fields.text) ? undefined : { text: String(fields.text) }
    case 'refusal':
      return isBlank(fields.refusal) ? undefined : { text: String(fields.refusal) }
    case 'image_url':
    case 'video_url': {
      const value = fields[part.type]
      const { url, detail = 'auto' } = (typeof value === 'string' ? { url: value } : (value ?? {})) as Fields
      if (detail !== 'auto') scene.changes.add(`-messages.${part.type}.detail`)
      return blockOfFile(fileAt(url, `${at}.${part.type}.url`), {}, scene)
    }
    case 'file': {
      const { file_data, file_id, filename } = (fields.file ?? {}) as Fields
      const [source, name] = file_data === undefined ? [file_id, 'file_id'] : [file_data, 'file_data']
      return blockOfFile(fileAt(source, `${at}.file.${name}`), { ...fields, title: filename }, scene)
    }
    case 'document':
      return documentOf(fields, at, scene)
    case 'search_result':
      return searchResultOf(fields, scene)
    default:
      throw badRequest(`${at}.type: Bedrock does not support content of the type ${part.type}.`, {
        param: `${at}.type`,
      })
  }
}

const isBlank = (text: unknown): boolean => typeof text !== 'string' || text.trim() === ''

/** A document of Anthropic's clients: a text, or an address. */
function documentOf(fields: Fields, at: string, scene: Scene): Block {
  const { type, text, data, url } = (fields.source ?? {}) as Fields
  const said = text ?? data
  if (type === 'text' && typeof said === 'string') {
    const source = { bytes: Buffer.from(said).toString('base64') }
    return blockOfFile({ kind: 'document', format: 'txt', source }, fields, scene)
  }
  if (type === 'url') return blockOfFile(fileAt(url, `${at}.source.url`), fields, scene)
  throw badRequest(`${at}.source.type: Bedrock accepts documents as text, as base64 and from S3.`, {
    param: `${at}.source.type`,
  })
}

/** The results of a search: Claude can cite them, others read them as a text. */
function searchResultOf({ source, title, content, citations }: Fields, { facts }: Scene): Block | undefined {
  const said = (Array.isArray(content) ? (content as Fields[]) : []).map(({ text }) => text)
  const texts = said.filter((text): text is string => !isBlank(text))
  if (texts.length === 0) return undefined
  if (facts.maker !== 'anthropic')
    return { text: [title, ...texts].filter((text) => !isBlank(text)).join('\n\n') }
  return {
    searchResult: {
      source: String(source),
      title: String(title),
      content: texts.map((text) => ({ text })),
      ...(isEnabled(citations) && { citations: { enabled: true } }),
    },
  }
}

function blockOfFile({ kind, format, source }: File, fields: Fields, scene: Scene): Block {
  if (kind !== 'document') return { [kind]: { format, source } }
  const { citations, context } = fields
  return {
    document: {
      format,
      name: nameOf(fields.title, scene.documents),
      source,
      ...(isEnabled(citations) && { citations: { enabled: true } }),
      ...(typeof context === 'string' && context !== '' && { context }),
    },
  }
}

const isEnabled = (citations: unknown): boolean =>
  (citations as { enabled?: unknown } | null | undefined)?.enabled === true

/** A name of the few characters that are allowed, and that no other document has. */
function nameOf(title: unknown, taken: Set<string>): string {
  const name =
    String(title ?? '')
      .replace(/\.\w{1,5}$/, '')
      .replaceAll(/[^a-zA-Z0-9\s()[\]-]/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim()
      .slice(0, 180) || 'Document'
  let unique = name
  for (let n = 2; taken.has(unique); n += 1) unique = `${name} ${n}`
  taken.add(unique)
  return unique
}
