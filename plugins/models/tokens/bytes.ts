/**
 * The characters that stand for bytes in published vocabularies, as GPT-2 gave them: printable ones for themselves, the
 * others from U+0100 on, in the order of their values.
 */
export function byteAlphabet(): string[] {
  const isPrintable = (byte: number): boolean =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae
  let next = 0x100
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isPrintable(byte) ? byte : next++))
}
