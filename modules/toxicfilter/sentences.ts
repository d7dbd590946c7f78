import { type ChoiceDelta, Chunk } from '#kernel'

/** A sentence without an end is checked after so many characters. */
const longest = 1000
const end = /[.!?…]["'”’)\]]*\s|[。！？\n]/g

/** The sentences of a text, one after the other and with all that stands between them. */
export function sentencesOf(text: string): string[] {
  const sentences: string[] = []
  let at = 0
  for (const match of text.matchAll(end)) {
    const next = match.index + match[0].length
    sentences.push(text.slice(at, next))
    at = next
  }
  if (at < text.length) sentences.push(text.slice(at))
  return sentences
}

/** Gives the text that stands for each of these, or rejects with the refusal of the answer. */
export type Check = (texts: readonly string[]) => Promise<readonly string[]>

/**
 * Holds chunks until the sentences in them have been checked. A chunk in which a sentence ends and the next one begins is cut there,
 * so that each sentence is checked as a whole.
 */
export async function* checkedStream(
  chunks: AsyncIterable<readonly Chunk[]>,
  check: Check,
): AsyncGenerator<readonly Chunk[]> {
  let held: Chunk[] = []
  let texts = new Map<number, string>()
  const take = (chunk: Chunk): void => {
    held.push(chunk)
    for (const choice of chunk.data.choices) {
      const text = textOf(choice)
      if (text !== '') texts.set(choice.index, (texts.get(choice.index) ?? '') + text)
    }
  }
  const release = async (): Promise<readonly Chunk[]> => {
    const [leaving, said] = [held, texts]
    held = []
    texts = new Map()
    const replaced = await replacedBy(check, said)
    return replaced.size === 0 ? leaving : leaving.map((chunk) => withTexts(chunk, replaced))
  }
  for await (const batch of chunks) {
    const leaving: Chunk[] = []
    for (const chunk of batch) {
      const [first, rest] = cutAtEnd(chunk, texts)
      take(first)
      const isDue = texts.size === 0 || rest !== undefined || [...texts.values()].some(isOver)
      if (isDue) leaving.push(...(await release()))
      if (rest) take(rest)
    }
    if (leaving.length > 0) yield leaving
  }
  if (held.length > 0) yield await release()
}

const isOver = (text: string): boolean => text.length > longest || placeOfEnd(text) === text.length

/** Behind the last end of a sentence; 0 where there is none. */
function placeOfEnd(text: string): number {
  let place = 0
  for (const match of text.matchAll(end)) place = match.index + match[0].length
  return place
}

/** The texts that stand in place of those of the choices, for choices of which one differs. */
async function replacedBy(check: Check, said: ReadonlyMap<number, string>): Promise<Map<number, string>> {
  const replaced = new Map<number, string>()
  const sentences = [...new Set([...said.values()].flatMap(sentencesOf))]
  if (sentences.length === 0) return replaced
  const passed = await check(sentences)
  const known = new Map(sentences.map((sentence, i) => [sentence, passed[i]!]))
  for (const [index, text] of said) {
    const by = sentencesOf(text)
      .map((sentence) => known.get(sentence)!)
      .join('')
    if (by !== text) replaced.set(index, by)
  }
  return replaced
}

const textOf = ({ delta, text }: ChoiceDelta): string =>
  text ?? (typeof delta?.content === 'string' ? delta.content : '')

/** The choice with another text; log probabilities are those of the text that was there. */
function withText({ logprobs: _, ...choice }: ChoiceDelta, text: string): ChoiceDelta {
  return choice.text === undefined
    ? { ...choice, delta: { ...choice.delta, content: text } }
    : { ...choice, text }
}

/** A chunk, or its part up to the end of the last sentence in it and its part behind; `before` is what its choices have said. */
function cutAtEnd(chunk: Chunk, before: ReadonlyMap<number, string>): readonly [Chunk, Chunk?] {
  const [choice, ...others] = chunk.data.choices
  if (!choice || others.length > 0) return [chunk]
  const text = textOf(choice)
  const said = before.get(choice.index) ?? ''
  const at = placeOfEnd(said + text) - said.length
  if (at <= 0 || at >= text.length) return [chunk]
  const { usage: _, ...data } = chunk.data
  const first = { ...withText(choice, text.slice(0, at)), finish_reason: null }
  const { delta: __, ...rest } = withText(choice, text.slice(at))
  const behind = rest.text === undefined ? { ...rest, delta: { content: text.slice(at) } } : rest
  return [Chunk.of({ ...data, choices: [first] }), Chunk.of({ ...chunk.data, choices: [behind] })]
}

/** The chunk with the first text of each replaced choice exchanged, and its later ones empty. */
function withTexts(chunk: Chunk, replaced: Map<number, string>): Chunk {
  const choices = chunk.data.choices.map((choice) => {
    const by = replaced.get(choice.index)
    if (by === undefined || textOf(choice) === '') return choice
    replaced.set(choice.index, '')
    return withText(choice, by)
  })
  return chunk.with({ ...chunk.data, choices })
}
