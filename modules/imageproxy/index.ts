import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { badRequest, type Call, defineModule, internalError, unavailable } from '#kernel'
import { type CleanImage, cleaned } from './image.ts'
import { type ImagePlace, imagesOf, withImages } from './places.ts'
import { ImageFault, ImageSource } from './source.ts'
import { Turns } from './turns.ts'

const mb = 1024 * 1024
/** Of images as they are sent on, in each thread. */
const mostKeptBytes = 64 * mb
/** For so long, an address is not fetched again: conversations send their images with each turn. */
const addressMs = 5 * 60_000
/** Images that are drawn at a time, in each thread. Each may take 200 MB. */
const atATime = 2

export default defineModule({
  settings: z.strictObject({
    max_bytes: z
      .int()
      .min(1)
      .max(50 * mb)
      .default(10 * mb)
      .meta({ title: 'Largest image', description: 'Bytes of an image as it comes.' }),
    max_side: z.int().min(16).max(8192).default(2048).meta({
      title: 'Longest side',
      description:
        'Pixels. Larger images are made smaller; models shrink them themselves, and bill them first.',
    }),
    max_images: z.int().min(1).max(1000).default(50).meta({
      title: 'Most images',
      description: 'Images of one call.',
    }),
    allow_hosts: z.array(z.string().min(1).max(256)).max(1000).default([]).meta({
      title: 'Allowed hosts',
      description: 'Hosts of images, by globs; every public host if empty.',
    }),
    timeout_s: z.number().positive().max(60).default(10).meta({
      title: 'Time limit',
      description: 'Seconds that a host may take to send an image.',
    }),
  }),

  async setup({ settings, fetch, memory, log, report }) {
    const { max_bytes, max_side, max_images, allow_hosts, timeout_s } = settings
    const lib = await loadSharp()
    if (!lib) {
      report('lacks', missing)
      log.warn(missing)
      return { pure: true, request: refuseImages }
    }
    const draw = (bytes: Buffer) => cleaned(lib, bytes, max_side)
    const source = new ImageSource({
      fetch,
      maxBytes: max_bytes,
      timeoutMs: timeout_s * 1000,
      allowHosts: allow_hosts,
    })
    /** By the hash of what they are drawn from. */
    const drawn = memory(
      'drawn',
      () =>
        new LRUCache<string, CleanImage>({
          maxSize: mostKeptBytes,
          sizeCalculation: ({ url }) => url.length,
        }),
    )
    /** The hash of what was last found at an address. */
    const found = memory('found', () => new LRUCache<string, string>({ max: 10_000, ttl: addressMs }))
    const turns = new Turns(atATime)

    async function imageOf(url: string, signal: AbortSignal): Promise<CleanImage> {
      const address = `${max_bytes} ${allow_hosts} ${hash('sha256', url)}`
      const known = drawn.get(`${max_side} ${found.get(address)}`)
      if (known) return known
      const bytes = await source.bytesOf(url, signal)
      const content = hash('sha256', bytes)
      found.set(address, content)
      const name = `${max_side} ${content}`
      const same = drawn.get(name)
      if (same) return same
      const image = await turns.take(() => draw(bytes))
      drawn.set(name, image)
      return image
    }

    async function replace(call: Call, places: readonly ImagePlace[]): Promise<Call> {
      if (places.length > max_images)
        throw badRequest(`The call has ${places.length} images, and may have ${max_images}.`, {
          param: places[max_images]!.at,
        })
      const left = new AbortController()
      const forget = call.cancel.onAbort(() => left.abort())
      try {
        const images = await Promise.all(
          places.map(async (place) => {
            const image = await imageOf(place.url, left.signal).catch((error: unknown) => {
              call.cancel.check()
              throw error instanceof ImageFault ? refused(place, error) : error
            })
            return [place, image] as const
          }),
        )
        call.trace.facts.images = images.map(([{ at }, { type, width, height, bytes }]) => ({
          at,
          type,
          width,
          height,
          bytes,
        }))
        return withImages(call, new Map(images.map(([place, { url }]) => [place, url])))
      } finally {
        forget()
        left.abort()
      }
    }

    return {
      request(call) {
        const places = imagesOf(call.request)
        return places.length === 0 ? undefined : replace(call, places)
      },
    }
  },
})

const refused = ({ at }: ImagePlace, { message }: ImageFault) =>
  badRequest(`${at}: the image is refused, as ${message}.`, { param: at, type: 'image_refused' })

const missing =
  'imageproxy needs the package sharp: run `npm install sharp` in the folder of the gateway, and start it again.'

/** Without the library no image can be made safe, so none goes on. */
function refuseImages({ request }: Call): undefined {
  const [place] = imagesOf(request)
  if (place)
    throw internalError(`${place.at}: images are refused, as ${missing}`, { ...unavailable, param: place.at })
}

/** Few gateways draw images, and the library has 20 MB: operators install it where it is needed. Undefined where it is not. */
async function loadSharp() {
  try {
    const { default: lib } = await import('sharp')
    lib.cache(false)
    return lib
  } catch {
    return undefined
  }
}
