import type { Token } from './tokens.ts'

const phrases = (list: string): readonly (readonly string[])[] =>
  list.split(',').map((phrase) => phrase.trim().split(/\s+/))
const words = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/))

const greetings = phrases(
  `hi there, hello there, hey there, hi all, hi, hello, hey, good morning, good afternoon, good evening, hallo, guten tag, bonjour,
  salut, hola, buenos días, ciao, buongiorno, olá, oi, hej`,
)
const please = phrases(
  "please, kindly, pls, plz, bitte, s'il vous plaît, svp, por favor, per favore, alsjeblieft",
)
const thanks = phrases(
  `thank you very much, thank you so much, thank you in advance, thank you, thanks a lot, thanks so much, many thanks,
  thanks in advance, thanks, thx, danke, vielen dank, merci, merci beaucoup, gracias, muchas gracias, grazie, obrigado, cheers`,
)
const wishes = phrases(
  `i would like to know, i'd like to know, i want to know, i need to know, i was wondering, i wonder, may i ask, can i ask, could i ask,
  can you tell me, could you tell me, would you tell me, can you please tell me, could you please tell me, please tell me, do you know,
  tell me, let me know`,
)
const requests = phrases('can you please, could you please, would you please, can you, could you, would you')
const fillers = phrases('ok, okay, well, so, um, right')

const questionWords = words('what who whom whose where when why which how')
const requestVerbs = words(
  `tell explain give show help list translate summarize summarise describe find make create name compare provide define
  convert calculate write suggest recommend`,
)
/** In front of these a word is spoken of, not said: "how do you say please". */
const mentions = words(
  `say says said spell spelled word words phrase translate translation mean means meaning write pronounce called named reply respond
  answer print output echo type repeat is in of with to and or the`,
)

/** A question without what is said out of politeness at its beginning and at its end. */
export function withoutCourtesy(question: readonly Token[]): readonly Token[] {
  let tokens = question
  for (let shorter = step(tokens); shorter.length < tokens.length; shorter = step(tokens)) tokens = shorter
  return tokens
}

function step(tokens: readonly Token[]): readonly Token[] {
  const opening = openingOf(tokens)
  if (opening > 0) return withoutLine(tokens.slice(opening))
  const closing = closingOf(tokens)
  return closing > 0 ? tokens.slice(0, -closing) : tokens
}

/** How many words of courtesy a question begins with; 0 where nothing else would be left. */
function openingOf(tokens: readonly Token[]): number {
  const begins = (
    list: readonly (readonly string[])[],
    mayFollow: (next: string, pauses: boolean) => boolean,
  ) => {
    const phrase = list.find((phrase) => phrase.every((word, at) => tokens[at]?.text === word))
    const next = phrase && tokens[phrase.length]
    return next && mayFollow(next.text, tokens[phrase.length - 1]!.pauses) ? phrase.length : 0
  }
  const opens = (next: string): boolean =>
    questionWords.has(next) || requestVerbs.has(next) || ['please', 'can', 'could', 'would'].includes(next)
  return (
    begins(wishes, (next) => questionWords.has(next)) ||
    begins(requests, (next) => requestVerbs.has(next)) ||
    begins(please, (next, pauses) => pauses || !mentions.has(next) || requestVerbs.has(next)) ||
    begins(greetings, (next, pauses) => pauses || opens(next)) ||
    begins(thanks, (_, pauses) => pauses) ||
    begins(fillers, (_, pauses) => pauses)
  )
}

/** How many words of courtesy a question ends with. */
function closingOf(tokens: readonly Token[]): number {
  const ends = (list: readonly (readonly string[])[], mayPrecede: (before: Token) => boolean) => {
    const phrase = list.find((phrase) =>
      phrase.every((word, at) => tokens[tokens.length - phrase.length + at]?.text === word),
    )
    const before = phrase && tokens[tokens.length - phrase.length - 1]
    return before && mayPrecede(before) ? phrase.length : 0
  }
  return (
    ends(please, ({ text, pauses }) => pauses || !mentions.has(text)) ||
    ends(thanks, ({ pauses }) => pauses) ||
    (tokens.length > 1 && tokens.at(-1)!.text.startsWith('\n') ? 1 : 0)
  )
}

/** A line that courtesy had for itself goes with it. */
const withoutLine = (tokens: readonly Token[]): readonly Token[] =>
  tokens[0]?.text.startsWith('\n') ? tokens.slice(1) : tokens
