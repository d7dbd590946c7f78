import { badRequest } from '#kernel'
import type { Part } from './wire.ts'

const dataUrl = /^data:([^;,]+)(?:;[^,]*)?;base64,(.*)$/s

/** MIME types by the ending of an address; the service requires one. */
const types: ReadonlyMap<string, string> = new Map(
  Object.entries({
    png: 'image/png',
    jpg: 'image/jpeg',
    jpeg: 'image/jpeg',
    webp: 'image/webp',
    gif: 'image/gif',
    heic: 'image/heic',
    heif: 'image/heif',
    pdf: 'application/pdf',
    txt: 'text/plain',
    mp3: 'audio/mp3',
    wav: 'audio/wav',
    mp4: 'video/mp4',
    webm: 'video/webm',
    mov: 'video/quicktime',
  }),
)

/**
 * An image, sound or document as a part. Data URLs go along as they are; other addresses the provider fetches itself,
 * where its model can. `param` names the field if neither is possible.
 */
export function mediaPart(url: unknown, fetches: RegExp, param: string): Part {
  if (typeof url !== 'string') throw badRequest(`${param}: expected an address.`, { param })
  const data = dataUrl.exec(url)
  if (data) return { inlineData: { mimeType: data[1]!, data: data[2]! } }
  if (!fetches.test(url)) {
    const why = url.startsWith('https://') ? 'this model does not fetch addresses' : 'only https is fetched'
    throw badRequest(`${param}: ${why}; send the content itself as a data: URL.`, { param })
  }
  const mimeType = types.get(/\.(\w+)(?:[?#]|$)/.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? '')
  return { fileData: { ...(mimeType !== undefined && { mimeType }), fileUri: url } }
}
