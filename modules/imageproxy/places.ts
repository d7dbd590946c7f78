import type { Call, ContentPart, ModelRequest } from '#kernel'

/** An image of a request. */
export interface ImagePlace {
  /** Its place, such as `messages.0.content.1`. */
  readonly at: string
  readonly message: number
  readonly part: number
  readonly url: string
}

/** The images that a request brings, in their order. */
export function imagesOf({ messages }: ModelRequest): ImagePlace[] {
  return (messages ?? []).flatMap(({ content }, message) =>
    Array.isArray(content)
      ? content.flatMap((part, n) => {
          const url = part.type === 'image_url' ? urlOf(part.image_url) : undefined
          return url === undefined ? [] : [{ at: `messages.${message}.content.${n}`, message, part: n, url }]
        })
      : [],
  )
}

/** The call with other images in these places. */
export function withImages(call: Call, images: ReadonlyMap<ImagePlace, string>): Call {
  const messages = [...(call.request.messages ?? [])]
  for (const [{ message, part }, url] of images) {
    const { content } = messages[message]!
    if (!Array.isArray(content)) continue
    const parts = content.map((one, n) => (n === part ? withUrl(one, url) : one))
    messages[message] = { ...messages[message]!, content: parts }
  }
  return call.withRequest({ messages })
}

/** The address stands in an object; some clients send it bare. */
function withUrl(part: ContentPart, url: string): ContentPart {
  if (part.type !== 'image_url') return part
  const { image_url: image } = part as { readonly image_url?: unknown }
  return { ...part, image_url: { ...(typeof image === 'object' ? image : undefined), url } }
}

function urlOf(image: unknown): string | undefined {
  const url = typeof image === 'object' && image !== null && 'url' in image ? image.url : image
  return typeof url === 'string' ? url : undefined
}
