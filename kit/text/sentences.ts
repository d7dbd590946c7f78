/** A sentence that is longer is cut at a space. */
const longest = 1000

/** What may matter to the end of a sentence: code, a link, marks that end one. */
const sought = /`{1,9}|\[|[.!?…]+["'”’»)\]*_~]*|[。！？]+["'”’」』）】*_~]*/g
const link = /\[[^\][]*\]\([^()\s]*\)/y
const linkSoFar = /\[[^\][]*(?:\](?:\([^()\s]*)?)?$/y
const space = /\s*/y

/** Abbreviations that are followed by a capital or a number, in lower case; those that often end a sentence are left out. */
const abbreviations = new Set(
  (
    'mr mrs ms dr prof st jr sr vs gen col capt lt sgt rev approx dept fig vol pp jan feb apr aug sept oct nov dec ' +
    'bzw ca evtl ggf inkl exkl zzgl vgl nr str abs bd hr fr dipl ing mio mrd tel geb sog allg bspw mme mlle'
  ).split(' '),
)

/**
 * Where the first sentence of a line ends, with the space behind it; undefined while text to come could still change that. With
 * `isWhole` nothing is to come, and the end of the text is an end. Code and links are not parted. The sentences of a line are the same
 * however it arrives.
 */
export function sentenceEnd(text: string, isWhole: boolean): number | undefined {
  const head = text.slice(0, longest)
  const isKnown = isWhole || text.length > longest
  let at = 0
  for (;;) {
    sought.lastIndex = at
    const match = sought.exec(head)
    if (!match) break
    at = sought.lastIndex
    const mark = match[0]
    if (mark[0] === '`') {
      const closing = head.indexOf(mark, at)
      if (closing < 0 && !isKnown) return undefined
      if (closing >= 0) at = closing + mark.length
    } else if (mark === '[') {
      link.lastIndex = match.index
      linkSoFar.lastIndex = match.index
      if (link.test(head)) at = link.lastIndex
      else if (!isKnown && linkSoFar.test(head)) return undefined
    } else {
      space.lastIndex = at
      space.exec(head)
      const next = space.lastIndex
      if (next === head.length) {
        if (!isKnown) return undefined
        break
      }
      if (/[。！？]/.test(mark) || (next > at && ends(head, match.index, mark, head.slice(next, next + 2))))
        return next
    }
  }
  if (!isKnown) return undefined
  return text.length <= longest ? text.length : cutOf(head)
}

/** Whether a mark ends a sentence, by the word before it and the character behind the space. */
function ends(text: string, at: number, mark: string, next: string): boolean {
  if (/^\p{Ll}/u.test(next)) return false
  if (!/^\.(?!\.)/.test(mark)) return true
  const [word = ''] = /[\p{L}\p{N}.]*$/u.exec(text.slice(Math.max(0, at - 20), at)) ?? []
  const last = word.slice(word.lastIndexOf('.') + 1).toLowerCase()
  if (/^(?:\p{L}|\d{1,2})$/u.test(last)) return false
  return !abbreviations.has(last) && !(last === 'no' && /^\d/.test(next))
}

/** Behind the last space; between two characters where there is none. */
function cutOf(head: string): number {
  const last = head.lastIndexOf(' ')
  if (last > 0) return last + 1
  return /[\ud800-\udbff]$/.test(head) ? head.length - 1 : head.length
}
