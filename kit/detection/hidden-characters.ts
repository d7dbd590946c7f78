import type { Finder, Finding } from './find-all.ts'

/** What a character that nobody sees is. */
export type HiddenKind = 'tag' | 'variation_selector' | 'bidi_control' | 'zero_width' | 'soft_hyphen'

export interface HiddenCharacter extends Finding {
  readonly label: HiddenKind
}

/** Whether a hidden character has a use depends on so many characters before it, and on so many from it on. */
export const hiddenReach = 20
/** Within so many characters of a directional mark stands the text from right to left that needs it. */
const nearby = 16

/** Every character that Unicode lets programs not show, and the marks of annotations; as code units, so that it is fast. */
const ignorable =
  '[\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb]|\\ud82f[\\udca0-\\udca3]|\\ud834[\\udd73-\\udd7a]|[\\udb40-\\udb43][\\udc00-\\udfff]'
/** With `lastIndex` set before each use. */
const sought = new RegExp(ignorable, 'g')
const one = new RegExp(ignorable)

/**
 * The first hidden character that has no use where it stands. Joiners in emoji and in scripts that join letters, marks of
 * direction in text from right to left, and variants of emoji and ideographs are left alone.
 */
export const hiddenFinder: Finder<HiddenCharacter> = (text, from) => {
  sought.lastIndex = from
  for (let match = sought.exec(text); match; match = sought.exec(text)) {
    const spot = spotOf(text, match.index, sought.lastIndex)
    const label = kindOf(spot.code)
    if (!uses[label](spot)) return { start: match.index, end: sought.lastIndex, label }
  }
  return undefined
}

/** The first index, `from` or later, of a hidden character whose use depends on text to come. */
export function hiddenOpenFrom(text: string, from: number): number {
  sought.lastIndex = Math.max(from, text.length - hiddenReach)
  return sought.exec(text)?.index ?? text.length
}

/** A text without its hidden characters, with what was written in tag characters as plain letters in their place. */
export const withoutHidden = (text: string): string =>
  text.replace(sought, (character) => {
    const code = character.codePointAt(0)!
    return code >= 0xe0020 && code <= 0xe007e ? String.fromCharCode(code - 0xe0000) : ''
  })

/** A hidden character with the characters around it. */
interface Spot {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly code: number
  /** The character before it, and the one before that; empty at the beginning. */
  readonly before: string
  readonly second: string
  readonly after: string
}

function spotOf(text: string, start: number, end: number): Spot {
  const before = characterBefore(text, start)
  const second = characterBefore(text, start - before.length)
  const code = text.codePointAt(start)!
  const next = text.codePointAt(end)
  const after = next === undefined ? '' : String.fromCodePoint(next)
  return { text, start, end, code, before, second, after }
}

function characterBefore(text: string, end: number): string {
  const isPair = /[\udc00-\udfff]/.test(text[end - 1] ?? '') && /[\ud800-\udbff]/.test(text[end - 2] ?? '')
  return text.slice(Math.max(0, end - (isPair ? 2 : 1)), end)
}

function kindOf(code: number): HiddenKind {
  if (code >= 0xe0100 && code <= 0xe01ef) return 'variation_selector'
  if (code >= 0xe0000) return 'tag'
  if ((code >= 0xfe00 && code <= 0xfe0f) || (code >= 0x180b && code <= 0x180d) || code === 0x180f)
    return 'variation_selector'
  if (code === 0x61c || code === 0x200e || code === 0x200f || (code >= 0x202a && code <= 0x202e))
    return 'bidi_control'
  if (code >= 0x2066 && code <= 0x2069) return 'bidi_control'
  return code === 0xad || code === 0xfeff ? 'soft_hyphen' : 'zero_width'
}

const emoji = /^\p{Extended_Pictographic}$/u
const beforeJoiner = /^[\p{Extended_Pictographic}\p{Emoji_Modifier}]$/u
const joining =
  /^(?=[\p{L}\p{M}])[\p{scx=Adlam}\p{scx=Arab}\p{scx=Beng}\p{scx=Deva}\p{scx=Gujr}\p{scx=Guru}\p{scx=Knda}\p{scx=Khmr}\p{scx=Mlym}\p{scx=Mong}\p{scx=Mymr}\p{scx=Nkoo}\p{scx=Orya}\p{scx=Sinh}\p{scx=Syrc}\p{scx=Taml}\p{scx=Telu}\p{scx=Tibt}]$/u
const unspaced = /^[\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}]$/u
const fromTheRight = /[\p{scx=Arab}\p{scx=Hebr}\p{scx=Nkoo}\p{scx=Syrc}\p{scx=Thaa}]/u
const flags =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu

/** For each kind, whether a character of it has a use where it stands. */
const uses: Readonly<Record<HiddenKind, (spot: Spot) => boolean>> = {
  /** Only in the flags of England, Scotland and Wales. */
  tag({ text, start }) {
    const base = Math.max(0, start - hiddenReach)
    for (const { index, 0: flag } of text.slice(base, start + hiddenReach).matchAll(flags))
      if (base + index < start && start < base + index + flag.length) return true
    return false
  },
  /** One, behind a character that has variants. */
  variation_selector({ code, before, after }) {
    if (code === 0xfe0e || code === 0xfe0f)
      return /^[\d#*]$/.test(before) ? after === '\u20e3' : /^[\p{Emoji}\p{So}\p{Sm}]$/u.test(before)
    if (code < 0x1810) return /^\p{scx=Mong}$/u.test(before)
    if (code <= 0xfe02) return /^[\p{scx=Han}\p{Sm}\p{scx=Mymr}\p{scx=Phag}0]$/u.test(before)
    return code >= 0xe0100 && code <= 0xe011f && /^\p{scx=Han}$/u.test(before)
  },
  /** Never where it overrides what a text says; else near text from right to left. */
  bidi_control: ({ text, start, end, code }) =>
    code !== 0x202d &&
    code !== 0x202e &&
    fromTheRight.test(text.slice(Math.max(0, start - nearby), end + nearby)),
  zero_width({ code, before, second, after }) {
    if (code === 0x200d && emoji.test(after))
      return beforeJoiner.test(before) || (before === '\ufe0f' && emoji.test(second))
    // More than one in a row joins nothing: rows of them are a code.
    if (code === 0x200c || code === 0x200d)
      return joining.test(before) || (joining.test(after) && !isHidden(before))
    if (code === 0x200b) return unspaced.test(before) && unspaced.test(after)
    if (code === 0x34f) return /^\p{M}$/u.test(before)
    if (code === 0x180e) return /^\p{scx=Mong}$/u.test(before)
    return (code === 0x115f || code === 0x1160) && /[\u1100-\u11ff]/.test(before + after)
  },
  soft_hyphen: () => false,
}

const isHidden = (character: string): boolean => one.test(character)
