import type sharp from 'sharp'
import { ImageFault } from './source.ts'

/** An image as it is sent on, and what it was. */
export interface CleanImage {
  /** A data URL. */
  readonly url: string
  readonly type: string
  readonly width: number
  readonly height: number
  readonly bytes: number
}

/** What each format is sent on as. Moving pictures become their first frame. */
const outputs: Readonly<Record<string, 'jpeg' | 'png' | 'webp'>> = {
  jpeg: 'jpeg',
  png: 'png',
  webp: 'webp',
  gif: 'png',
}

/** A larger one takes seconds and hundreds of megabytes to unpack, however few bytes it has. */
const mostPixels = 50_000_000

/**
 * Draws an image anew: its real type is one of four, no side is longer than `maxSide` pixels, it stands upright, and nothing is left
 * of the file but its pixels, so neither places and names nor anything that hides behind the picture. Throws an ImageFault.
 */
export async function cleaned(lib: typeof sharp, bytes: Buffer, maxSide: number): Promise<CleanImage> {
  try {
    const image = lib(bytes, { limitInputPixels: mostPixels, sequentialRead: true, failOn: 'error' })
    const { format } = await image.metadata()
    const output = outputs[format ?? '']
    if (!output) throw new ImageFault('it is no JPEG, PNG, WebP or GIF')
    const { data, info } = await image
      .autoOrient()
      .resize({ width: maxSide, height: maxSide, fit: 'inside', withoutEnlargement: true })
      .toFormat(output, output === 'png' ? {} : { quality: 90 })
      .toBuffer({ resolveWithObject: true })
    const { width, height } = info
    const type = `image/${output}`
    return { url: `data:${type};base64,${data.toString('base64')}`, type, width, height, bytes: data.length }
  } catch (error) {
    throw error instanceof ImageFault
      ? error
      : new ImageFault(`it cannot be read, or has more than ${mostPixels / 1e6} million pixels`)
  }
}
