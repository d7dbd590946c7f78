import { badRequest, type ContentPart, type Message } from '#kernel'
import { type Changes, quoted } from '#provider'
import { mediaPart } from './media.ts'
import type { Part } from './wire.ts'

interface Fields {
  readonly [field: string]: unknown
}

/** The content of a message as parts; empty texts are left out. A part that cannot be carried is refused by its name. */
export function partsOf(content: Message['content'], fetches: RegExp, at: string, changes: Changes): Part[] {
  if (content === undefined || content === null || content === '') return []
  const known = quoted(content, (change) => changes.add(change)) ?? ''
  if (typeof known === 'string') return [{ text: known }]
  return known.flatMap((part, i) => {
    const made = partOf(part, fetches, `${at}[${i}]`, changes)
    return made.text === '' ? [] : [made]
  })
}

function partOf(part: ContentPart, fetches: RegExp, at: string, changes: Changes): Part {
  switch (part.type) {
    case 'text':
      return { text: String((part as Fields).text) }
    case 'refusal':
      return { text: String((part as Fields).refusal) }
    case 'image_url':
    case 'video_url': {
      const { url, detail = 'auto' } = fieldsOf(part, part.type)
      if (detail !== 'auto') changes.add(`-messages.${part.type}.detail`)
      return mediaPart(url, fetches, `${at}.${part.type}.url`)
    }
    case 'input_audio': {
      const { data, format } = fieldsOf(part, 'input_audio')
      return { inlineData: { mimeType: `audio/${String(format)}`, data: String(data) } }
    }
    case 'file':
      return filePart(fieldsOf(part, 'file'), fetches, at)
    case 'document': {
      const { url } = fieldsOf(part, 'source')
      return mediaPart(url, fetches, `${at}.source.url`)
    }
    default:
      throw badRequest(`${at}.type: Gemini does not support content of the type ${part.type}.`, {
        param: `${at}.type`,
      })
  }
}

function filePart(file: Fields, fetches: RegExp, at: string): Part {
  if (file.file_data !== undefined) return mediaPart(file.file_data, fetches, `${at}.file.file_data`)
  if (typeof file.file_id === 'string' && file.file_id.startsWith('https://')) {
    return mediaPart(file.file_id, fetches, `${at}.file.file_id`)
  }
  const param = `${at}.file.file_id`
  throw badRequest(
    `${param}: Gemini does not know this file; send it as file_data, or send its Gemini URL.`,
    {
      param,
    },
  )
}

const fieldsOf = (part: ContentPart, name: string): Fields => {
  const value = (part as Fields)[name]
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

/** The text of a content that may be nothing else. */
export function textOf(content: Message['content'], at: string, changes: Changes): string {
  const known = quoted(content, (change) => changes.add(change)) ?? ''
  if (typeof known === 'string') return known
  return known
    .map((part, i) => {
      if (part.type === 'text') return String((part as Fields).text)
      throw badRequest(`${at}[${i}].type: only text is supported here.`, { param: `${at}[${i}].type` })
    })
    .join('')
}
