import { createRequire } from 'node:module'

/** Loaded with the first image. */
const load = (): typeof import('image-size') => createRequire(import.meta.url)('image-size')

interface Size {
  readonly width: number
  readonly height: number
}

type Rule = (size: Size, detail: string) => number

/** Tiles of 512 pixels, after the image is fitted into 2048 and its shorter side into 768. */
const tiles =
  (base: number, each: number): Rule =>
  (size, detail) => {
    if (detail === 'low') return base
    const inside = scaled(size, Math.min(1, 2048 / Math.max(size.width, size.height)))
    const { width, height } = scaled(inside, Math.min(1, 768 / Math.min(inside.width, inside.height)))
    return base + each * Math.ceil(width / 512) * Math.ceil(height / 512)
  }

/** Patches of 32 pixels, 1536 at the most, each as many tokens. */
const patches =
  (factor: number): Rule =>
  ({ width, height }) =>
    Math.ceil(Math.min(1536, Math.ceil(width / 32) * Math.ceil(height / 32)) * factor)

/** A token for 750 pixels, after the longer side is fitted into 1568. */
const area: Rule = (size) => {
  const { width, height } = scaled(size, Math.min(1, 1568 / Math.max(size.width, size.height)))
  return Math.min(1600, Math.ceil((width * height) / 750))
}

/** 258 tokens, for each tile of 768 pixels where the image is larger than 384. */
const squares: Rule = ({ width, height }) =>
  width <= 384 && height <= 384 ? 258 : 258 * Math.ceil(width / 768) * Math.ceil(height / 768)

/**
 * How images are counted, as the makers document it: OpenAI's "Images and vision", Anthropic's "Vision", Google's
 * "Understand and count tokens". The first that matches counts.
 */
const rules: readonly (readonly [RegExp, Rule])[] = [
  [/^gpt-4o-mini/, tiles(2833, 5667)],
  [/^gpt-(4\.1|5)-nano/, patches(2.46)],
  [/^gpt-(4\.1|5)-mini/, patches(1.62)],
  [/^o4-mini/, patches(1.72)],
  [/^gpt-5/, tiles(70, 140)],
  [/^o[13]/, tiles(75, 150)],
  [/claude/, area],
  [/^(gemini|gemma)/, squares],
]

const usual = tiles(85, 170)
/** Of an image that stands at an address nothing is known. */
const assumed: Size = { width: 1024, height: 1024 }

/** The tokens of an image, by the rule of its model; `known` is false where its size, or the rule, had to be assumed. */
export function imageTokens(model: string, image: unknown): { tokens: number; known: boolean } {
  const { url, detail } = (image ?? {}) as { url?: unknown; detail?: unknown }
  const bare = model.toLowerCase().replace(/^.*\//, '')
  const rule = rules.find(([pattern]) => pattern.test(bare))?.[1]
  const size = sizeOf(url)
  const tokens = (rule ?? usual)(size ?? assumed, typeof detail === 'string' ? detail : 'auto')
  return { tokens, known: size !== undefined && (rule !== undefined || bare.startsWith('gpt-4')) }
}

/** The size of an image that is in its URL; its first bytes say it. */
function sizeOf(url: unknown): Size | undefined {
  if (typeof url !== 'string') return undefined
  const data = /^data:image\/[\w.+-]+;base64,/.exec(url)
  if (!data) return undefined
  try {
    const start = data[0].length
    const head = new Uint8Array(Buffer.from(url.slice(start, start + headBytes), 'base64'))
    const { width, height } = load().imageSize(head)
    return width > 0 && height > 0 ? { width, height } : undefined
  } catch {
    return undefined
  }
}

/** Enough for the headers of every format, JPEG's metadata included; a multiple of four. */
const headBytes = 256 * 1024

const scaled = ({ width, height }: Size, by: number): Size => ({ width: width * by, height: height * by })
