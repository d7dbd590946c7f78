import type { ChoiceDelta, CompletionChunk, Delta } from '#kernel'

/** The characters that a chunk adds to the texts of an answer. */
export const charactersOf = ({ choices }: CompletionChunk): number =>
  choices.reduce((sum, { text = '', delta }) => sum + text.length + (delta ? charactersIn(delta) : 0), 0)

function charactersIn({ role: _, tool_calls, ...texts }: Delta): number {
  const calls = (tool_calls ?? []).map((call) => call.function?.arguments?.length ?? 0)
  const said = Object.values(texts).map((text) => (typeof text === 'string' ? text.length : 0))
  return [...calls, ...said].reduce((sum, size) => sum + size, 0)
}

/** A chunk whose one text is cut at these places, in their order; no character is halved. A chunk without a text stays whole. */
export function cut(chunk: CompletionChunk, places: readonly number[]): CompletionChunk[] {
  const [choice] = chunk.choices
  const said = choice && spoken(choice)
  if (!said) return [chunk]
  const { text, saying } = said
  const pieces: CompletionChunk[] = []
  let from = 0
  for (const place of [...places, text.length]) {
    const end = Math.min(isWithinCharacter(text, place) ? place + 1 : place, text.length)
    if (end <= from) continue
    pieces.push({ ...chunk, choices: [saying(text.slice(from, end))] })
    from = end
  }
  return pieces
}

interface Spoken {
  readonly text: string
  /** The choice with another text in its place. */
  readonly saying: (text: string) => ChoiceDelta
}

/** The text that a choice adds, where it adds one. */
function spoken(choice: ChoiceDelta): Spoken | undefined {
  const { text, delta = {} } = choice
  if (text) return { text, saying: (text) => ({ ...choice, text }) }
  const { role: _, tool_calls, ...texts } = delta
  const [call] = tool_calls ?? []
  if (call?.function?.arguments) {
    const saying = (piece: string): ChoiceDelta => ({
      ...choice,
      delta: { tool_calls: [{ ...call, function: { ...call.function, arguments: piece } }] },
    })
    return { text: call.function.arguments, saying }
  }
  for (const [field, value] of Object.entries(texts)) {
    if (typeof value === 'string' && value !== '')
      return { text: value, saying: (piece) => ({ ...choice, delta: { [field]: piece } }) }
  }
  return undefined
}

const isWithinCharacter = (text: string, place: number): boolean =>
  /[\ud800-\udbff]/.test(text.charAt(place - 1)) && /[\udc00-\udfff]/.test(text.charAt(place))
