/** Classes of characters that tokenizers treat alike. */
export const classes = [
  'space',
  'letter',
  'digit',
  'sign',
  'accented',
  'greek',
  'cyrillic',
  'hebrew',
  'arabic',
  'devanagari',
  'indic',
  'thai',
  'hangul',
  'kana',
  'han',
  'other',
] as const

export type CharacterClass = (typeof classes)[number]

/** The last code unit of each range, and what stands in it; by the blocks of Unicode. */
const ranges: readonly (readonly [number, CharacterClass])[] = [
  [0x20, 'space'],
  [0x2f, 'sign'],
  [0x39, 'digit'],
  [0x40, 'sign'],
  [0x5a, 'letter'],
  [0x60, 'sign'],
  [0x7a, 'letter'],
  [0xbf, 'sign'],
  [0x36f, 'accented'],
  [0x3ff, 'greek'],
  [0x52f, 'cyrillic'],
  [0x58f, 'other'],
  [0x5ff, 'hebrew'],
  [0x8ff, 'arabic'],
  [0x97f, 'devanagari'],
  [0xdff, 'indic'],
  [0xeff, 'thai'],
  [0x10ff, 'other'],
  [0x11ff, 'hangul'],
  [0x1dff, 'other'],
  [0x1eff, 'accented'],
  [0x1fff, 'greek'],
  [0x2bff, 'sign'],
  [0x2fff, 'other'],
  [0x33ff, 'kana'],
  [0x9fff, 'han'],
  [0xabff, 'other'],
  [0xd7ff, 'hangul'],
  [0xf8ff, 'other'],
  [0xfaff, 'han'],
  [0xfdff, 'arabic'],
  [0xfeff, 'other'],
  [0xffef, 'kana'],
  [0xffff, 'other'],
]

/** The class of each code unit, as its place in `classes`. */
export const classOf: Readonly<Uint8Array> = table()

function table(): Uint8Array {
  const made = new Uint8Array(0x1_0000)
  let from = 0
  for (const [last, name] of ranges) {
    made.fill(classes.indexOf(name), from, last + 1)
    from = last + 1
  }
  return made
}
