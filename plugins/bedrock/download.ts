import { badRequest, type Call, type ContentPart, type Message } from '#kernel'

type Fields = Readonly<Record<string, unknown>>

/** Gets what stands at an address that a caller has named, from the public internet alone. */
export type Download = (
  url: string,
  init: { readonly signal: AbortSignal },
) => Promise<{
  readonly ok: boolean
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: AsyncIterable<Uint8Array> | null
}>

/** All files of a call together; the service takes no larger request. */
const maxBytes = 25 * 1024 * 1024
const maxFiles = 20
const maxMs = 15_000

/** Whether any file stands at an address of the web. */
export const hasFiles = (messages: readonly Message[]): boolean =>
  messages.some(({ content }) => partsOf(content).some(addressIn))

/** The messages of a call, with all files in them. */
export async function messagesOf({ request, cancel }: Call, download: Download): Promise<readonly Message[]> {
  const given = request.messages ?? []
  return hasFiles(given) ? withFiles(given, download, cancel.signal) : given
}

/**
 * Messages whose files at http addresses have become data URLs: the service fetches none. Rejects
 * with a bad request that names the field for a file that cannot be had.
 */
export async function withFiles(
  messages: readonly Message[],
  download: Download,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  const count = messages.reduce((sum, { content }) => sum + partsOf(content).filter(addressIn).length, 0)
  if (count > maxFiles) {
    throw badRequest(`messages: at most ${maxFiles} files are fetched per call; send data: URLs.`, {
      param: 'messages',
    })
  }
  const room = { bytes: maxBytes }
  const ended = AbortSignal.any([signal, AbortSignal.timeout(maxMs)])
  return Promise.all(
    messages.map(async (message, i) => {
      if (!partsOf(message.content).some(addressIn)) return message
      const content = partsOf(message.content).map(async (part, j) => {
        const url = addressIn(part)
        if (url === undefined) return part
        return withAddress(
          part,
          await dataUrl(url, (from) => download(from, { signal: ended }), room, `messages.${i}.content.${j}`),
        )
      })
      return { ...message, content: await Promise.all(content) }
    }),
  )
}

const partsOf = (content: Message['content']): readonly ContentPart[] =>
  typeof content === 'string' ? [] : (content ?? [])

/** Where a part's file is, if that is an address of the web. */
function addressIn(part: ContentPart): string | undefined {
  const url = urlIn(part)
  return typeof url === 'string' && /^https?:\/\//i.test(url) ? url : undefined
}

function urlIn(part: ContentPart): unknown {
  const value = (part as Fields)[part.type === 'document' ? 'source' : part.type]
  if (typeof value === 'string') return value
  const { url, file_data, file_id } = (value ?? {}) as Fields
  return part.type === 'file' ? (file_data ?? file_id) : url
}

/** The part with the file's content in the place of its address. */
function withAddress(part: ContentPart, url: string): ContentPart {
  const { type, source, file, ...own } = part as ContentPart & { source?: Fields; file?: Fields }
  if (type === 'file') return { ...own, type, file: { ...file, file_data: url } }
  if (type !== 'document') return { ...own, type, [type]: { url } }
  const { title, ...rest } = own as Fields
  return { ...rest, type: 'file', file: { filename: title, file_data: url } }
}

async function dataUrl(
  url: string,
  get: (url: string) => ReturnType<Download>,
  room: { bytes: number },
  at: string,
): Promise<string> {
  const refusal = (why: string): Error =>
    badRequest(`${at}: its file ${why}; send the content as a data: URL.`, { param: at })
  // All failures look alike: else a caller could explore the network that only the gateway reaches.
  const response = await get(url).catch(() => undefined)
  if (!response) throw refusal('cannot be reached')
  if (!response.ok) throw refusal(`was answered with status ${response.status}`)
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of response.body ?? []) {
      room.bytes -= chunk.length
      if (room.bytes < 0) break
      chunks.push(chunk)
    }
  } catch {
    throw refusal('broke off')
  }
  if (room.bytes < 0) throw refusal('is too large')
  return `data:${typeOf(url, response.headers.get('content-type'))};base64,${Buffer.concat(chunks).toString('base64')}`
}

const byEnding: ReadonlyMap<string, string> = new Map(
  Object.entries({
    png: 'image/png',
    jpg: 'image/jpeg',
    jpeg: 'image/jpeg',
    gif: 'image/gif',
    webp: 'image/webp',
    pdf: 'application/pdf',
    csv: 'text/csv',
    md: 'text/markdown',
    mp4: 'video/mp4',
    mov: 'video/quicktime',
    webm: 'video/webm',
  }),
)

/** The type that the server gives, or else the type of the address's ending. */
function typeOf(url: string, header: string | null): string {
  const said = header?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (said !== '' && said !== 'application/octet-stream' && said !== 'binary/octet-stream') return said
  return byEnding.get(/\.(\w+)$/.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? '') ?? said
}
