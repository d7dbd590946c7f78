import { z } from 'zod'
import { badRequest, type ContentPart } from '#kernel'
import { checked } from './checked.ts'
import type { Fields } from './schema.ts'

const text = z.looseObject({ text: z.string() })
const refusal = z.looseObject({ refusal: z.string() })
const image = z.looseObject({ image_url: z.string(), detail: z.string().nullish() })
const file = z.looseObject({
  file_data: z.string().nullish(),
  file_url: z.string().nullish(),
  file_id: z.string().nullish(),
  filename: z.string().nullish(),
})
const audio = z.looseObject({ input_audio: z.looseObject({ data: z.string(), format: z.string() }) })

/** Contents of a message or of a tool's result: one plain text stays a text. */
export function contentOf(parts: readonly Fields[], at: string): string | ContentPart[] {
  const carried = parts.map((part, i) => partOf(part, `${at}.${i}`))
  const [only] = carried
  return carried.length === 1 && only!.type === 'text' ? String(only!.text) : carried
}

function partOf(part: Fields, at: string): ContentPart {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
      return { type: 'text', text: checked(text, part, at).text }
    case 'refusal':
      return { type: 'refusal', refusal: checked(refusal, part, at).refusal }
    case 'input_image': {
      const { image_url: url, detail } = checked(image, part, at)
      return { type: 'image_url', image_url: { url, ...(detail && { detail }) } }
    }
    case 'input_file':
      return { type: 'file', file: fileOf(checked(file, part, at), at) }
    case 'input_audio':
      return { type: 'input_audio', input_audio: checked(audio, part, at).input_audio }
    default:
      throw badRequest(`${at}.type: contents of the type ${String(part.type)} are not supported.`, {
        param: `${at}.type`,
      })
  }
}

function fileOf({ file_data, file_url, file_id, filename }: z.infer<typeof file>, at: string): Fields {
  if (!file_data && !file_url && !file_id)
    throw badRequest(`${at}: a file needs file_data, file_url or file_id.`, { param: at })
  return {
    ...(filename && { filename }),
    ...(file_data && { file_data }),
    ...(file_url && { file_url }),
    ...(file_id && { file_id }),
  }
}
