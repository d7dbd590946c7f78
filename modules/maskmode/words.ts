/** Where the last so many words begin, the one that is still being written included; `from` at the least. */
export function wordsBack(text: string, from: number, words: number): number {
  let at = text.length
  for (let n = 0; n < words && at > from; n += 1) {
    while (at > from && /\s/.test(text[at - 1]!)) at -= 1
    while (at > from && !/\s/.test(text[at - 1]!)) at -= 1
  }
  return at
}
