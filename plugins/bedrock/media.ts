import { badRequest } from '#kernel'
import type { Source } from './wire.ts'

/** The service's name of a type of file, by its MIME type. */
const images: ReadonlyMap<string, string> = new Map(
  Object.entries({ 'image/png': 'png', 'image/jpeg': 'jpeg', 'image/gif': 'gif', 'image/webp': 'webp' }),
)
const videos: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'video/mp4': 'mp4',
    'video/quicktime': 'mov',
    'video/x-matroska': 'mkv',
    'video/webm': 'webm',
    'video/x-flv': 'flv',
    'video/mpeg': 'mpeg',
    'video/x-ms-wmv': 'wmv',
    'video/3gpp': 'three_gp',
  }),
)
const documents: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'application/pdf': 'pdf',
    'text/csv': 'csv',
    'application/msword': 'doc',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    'application/vnd.ms-excel': 'xls',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
    'text/html': 'html',
    'text/markdown': 'md',
    'text/plain': 'txt',
  }),
)

/** A file of any of the three kinds, with the format's name. */
export interface File {
  readonly kind: 'image' | 'video' | 'document'
  readonly format: string
  readonly source: Source
}

const kinds = { image: images, video: videos, document: documents } as const
const dataUrl = /^data:([^;,]*)((?:;[^;,]*)*),(.*)$/s

/**
 * A file that stands in a data URL or in S3. The service fetches no other address, and neither does the gateway: it is
 * refused by name. `param` is that name.
 */
export function fileAt(url: unknown, param: string): File {
  if (typeof url !== 'string') throw badRequest(`${param}: expected an address.`, { param })
  const data = dataUrl.exec(url)
  if (data) return { ...formatOf(data[1]!, param), source: { bytes: base64Of(data[2]!, data[3]!) } }
  if (url.startsWith('s3://')) return { ...formatAt(url, param), source: { s3Location: { uri: url } } }
  throw badRequest(`${param}: Bedrock fetches s3:// addresses only; send the content as a data: URL.`, {
    param,
  })
}

const base64Of = (attributes: string, body: string): string =>
  attributes.includes(';base64') ? body : Buffer.from(decodeURIComponent(body)).toString('base64')

function formatOf(mimeType: string, param: string): Pick<File, 'kind' | 'format'> {
  for (const kind of ['image', 'video', 'document'] as const) {
    const format = kinds[kind].get(mimeType)
    if (format !== undefined) return { kind, format }
  }
  if (mimeType.startsWith('text/')) return { kind: 'document', format: 'txt' }
  throw badRequest(`${param}: Bedrock does not support files of the type ${mimeType || 'unknown'}.`, {
    param,
  })
}

/** By the ending of an address. */
function formatAt(url: string, param: string): Pick<File, 'kind' | 'format'> {
  const ending = /\.(\w+)$/
    .exec(url)?.[1]
    ?.toLowerCase()
    .replace(/^jpg$/, 'jpeg')
    .replace(/^3gp$/, 'three_gp')
  for (const kind of ['image', 'video', 'document'] as const) {
    const format = [...kinds[kind].values()].find((name) => name === ending)
    if (format !== undefined) return { kind, format }
  }
  throw badRequest(`${param}: its file name does not show its type.`, { param })
}
