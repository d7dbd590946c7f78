import { badRequest, type ContentPart, type Message } from '#kernel'
import type { Block } from './native.ts'

type Fields = Readonly<Record<string, unknown>>

/** A message's content as blocks. Blank texts, which the service refuses, are left out. */
export function blocksOf(content: Message['content'], at: string): Block[] {
  if (typeof content === 'string') return isBlank(content) ? [] : [{ type: 'text', text: content }]
  return (content ?? []).flatMap((part, i) => blockOf(part, `${at}.content.${i}`) ?? [])
}

function blockOf(part: ContentPart, at: string): Block | undefined {
  switch (part.type) {
    case 'text':
      return isBlank(part.text) ? undefined : { ...part }
    case 'refusal': {
      const { refusal } = part as Fields
      return isBlank(refusal) ? undefined : { type: 'text', text: refusal }
    }
    case 'image_url':
      return imageOf(part, at)
    case 'file':
      return fileOf(part, at)
    case 'document':
      return documentOf(part)
    case 'input_audio':
      throw badRequest('Anthropic does not support audio.', { param: at })
    default:
      return { ...part }
  }
}

const isBlank = (text: unknown): boolean => typeof text !== 'string' || text.trim() === ''

function imageOf(part: ContentPart, at: string): Block {
  const { type: _, image_url: image, ...rest } = part as ContentPart & { image_url?: unknown }
  const url = typeof image === 'string' ? image : (image as Fields | undefined)?.url
  if (typeof url !== 'string') throw badRequest('An image needs a URL.', { param: `${at}.image_url.url` })
  return { type: 'image', source: sourceOf(url), ...rest }
}

/** A data URL carries its bytes, any other says where they are. */
function sourceOf(url: string): Fields {
  const data = dataUrl(url)
  return data ? { type: 'base64', media_type: data.mediaType, data: data.base64 } : { type: 'url', url }
}

function dataUrl(url: string): { mediaType: string; base64: string } | undefined {
  if (!url.startsWith('data:')) return undefined
  const comma = url.indexOf(',')
  const [mediaType = '', ...attributes] = url.slice(5, comma).split(';')
  const body = url.slice(comma + 1)
  const base64 = attributes.includes('base64')
    ? body
    : Buffer.from(decodeURIComponent(body)).toString('base64')
  return { mediaType, base64 }
}

function fileOf(part: ContentPart, at: string): Block {
  const { type: _, file, ...rest } = part as ContentPart & { file?: Fields }
  const { file_data: data, file_id: id, file_url: url, filename } = file ?? {}
  const title = typeof filename === 'string' ? { title: filename } : {}
  if (typeof id === 'string')
    return { type: 'document', source: { type: 'file', file_id: id }, ...title, ...rest }
  if (typeof url === 'string' && data === undefined)
    return { type: 'document', source: { type: 'url', url }, ...title, ...rest }
  const found = typeof data === 'string' ? dataUrl(data) : undefined
  if (!found) throw badRequest('A file needs file_data as a data URL, or file_id.', { param: `${at}.file` })
  const { mediaType, base64 } = found
  if (mediaType.startsWith('image/'))
    return { type: 'image', source: { type: 'base64', media_type: mediaType, data: base64 }, ...rest }
  const source = mediaType.startsWith('text/')
    ? { type: 'text', media_type: 'text/plain', data: Buffer.from(base64, 'base64').toString('utf8') }
    : { type: 'base64', media_type: mediaType, data: base64 }
  return { type: 'document', source, ...title, ...rest }
}

/** The text of a document stands under `text` while modules may look at it; the service calls it `data`. */
function documentOf(part: ContentPart): Block {
  const { source } = part as { source?: Fields }
  if (source?.type !== 'text' || typeof source.text !== 'string') return { ...part }
  const { text, ...rest } = source
  return { ...part, source: { ...rest, data: text } }
}
