import type { ContentPart } from '#kernel'
import type { Part } from './schema.ts'

/** Formats of sound as OpenAI calls them, where that is not what the MIME type says. */
const sounds: Readonly<Record<string, string>> = { mpeg: 'mp3', 'x-wav': 'wav', wave: 'wav' }

/** Bytes in the common part for their kind; texts as texts, so that modules read them. */
export function inlinePart({ mimeType, data, displayName }: NonNullable<Part['inlineData']>): ContentPart {
  const url = `data:${mimeType};base64,${data}`
  const [kind, format = ''] = mimeType.split(';')[0]!.split('/')
  switch (kind) {
    case 'image':
      return { type: 'image_url', image_url: { url } }
    case 'video':
      return { type: 'video_url', video_url: { url } }
    case 'audio':
      return { type: 'input_audio', input_audio: { data, format: sounds[format] ?? format } }
    case 'text': {
      const text = Buffer.from(data, 'base64').toString('utf8')
      const source = { type: 'text', media_type: 'text/plain', text }
      return { type: 'document', source, ...(displayName && { title: displayName }) }
    }
    default:
      return { type: 'file', file: { ...(displayName && { filename: displayName }), file_data: url } }
  }
}

/** A file at an address. */
export function filePart({ mimeType, fileUri: url }: NonNullable<Part['fileData']>): ContentPart {
  const kind = mimeType?.split('/')[0]
  if (kind === 'image') return { type: 'image_url', image_url: { url } }
  if (kind === 'video' || /^https:\/\/(?:(?:www\.)?youtube\.com|youtu\.be)\//.test(url))
    return { type: 'video_url', video_url: { url } }
  return { type: 'file', file: { file_id: url } }
}

/** What the provider's own code did, in words. */
export const codeText = ({ executableCode: made, codeExecutionResult: came }: Part): string =>
  made
    ? `\n\`\`\`${(made.language ?? '').toLowerCase()}\n${(made.code ?? '').trimEnd()}\n\`\`\`\n`
    : `\n\`\`\`\n${(came?.output ?? '').trimEnd()}\n\`\`\`\n`
