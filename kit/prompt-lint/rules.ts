import { estimateTokens } from '../calls/estimate.ts'
import { contradictions } from './contradiction.ts'
import type { Instruction, Prompt } from './prompt.ts'
import type { Rule, RuleName, Weakness } from './rule.ts'

const placeholder = /\{\{[#^/&>]?[ \t]*[\w.-]{1,64}[ \t]*\}\}|\{%[^%\n]{1,100}%\}/g

/** Work whose result is data, for which a program needs a form. */
const dataWanted =
  /\b(?:extract|classify|categori[sz]e|label|rank|score|rate|parse)\b|\b(?:extrahiere|klassifiziere|kategorisiere|bewerte)\b/i
const formNamed =
  /\b(?:json|xml|yaml|csv|html|markdown|table|columns?|rows?|bullets?|list|lines?|format|formatted|sentences?|paragraphs?|words?|number|yes or no|true or false|one of|only the|tabelle|liste|zeilen?|sätzen?|wörtern?|zahl|ja oder nein)\b/i

/** Text of somebody else that follows an instruction without a border. */
const foreign =
  /\b(?:following|below|this|folgende[nrs]?|diese[nrs]?)\s+(?:text|article|e-?mail|message|document|input|content|review|comment|artikel|nachricht|dokument|kommentar)s?\b[^\n:]{0,80}:[ \t]*\n{0,3}[ \t]*(?!["'`<«“„[({]|---|===|###)\S[^\n]{30,}/i
const userInSystem =
  /\b(?:user|customer|client|visitor|kunde|nutzer)(?:'s)?[ \t]+(?:input|message|question|query|request|says|said|asked|nachricht|frage|eingabe)[ \t]*[:=][ \t]*(?!["'`<«“„[({])\S/i

/** Shorter texts repeat by chance. */
const shortestDuplicate = 40

const where = (
  instructions: readonly Instruction[],
  count: (instruction: Instruction) => number,
): Weakness[] =>
  instructions.flatMap((instruction) => {
    const found = count(instruction)
    return found > 0 ? [{ at: instruction.at, count: found }] : []
  })

const isSystem = ({ role }: Instruction): boolean => role === 'system'

export const rules: Readonly<Record<RuleName, Rule>> = {
  empty: {
    level: 'error',
    advice: 'A message has no text. Leave it out, or say in it what the model is to do.',
    find: ({ instructions }) => where(instructions, ({ text }) => (text.trim() === '' ? 1 : 0)),
  },
  placeholder: {
    level: 'error',
    advice:
      'A placeholder was not filled. Fill it before the call, or put it into code quotes if it is meant.',
    find: ({ instructions }) => where(instructions, ({ prose }) => prose.match(placeholder)?.length ?? 0),
  },
  contradiction: {
    level: 'warning',
    advice: 'Instructions contradict each other, so the model follows one of them by chance. Keep one.',
    find: contradictions,
  },
  no_format: {
    level: 'warning',
    advice: 'The result is data, and nothing says its form. Name it, or set response_format.',
    find: noFormat,
  },
  duplicate: {
    level: 'warning',
    advice: 'A part of the prompt is there twice. It costs tokens and says nothing more.',
    find: ({ instructions }) => duplicates(instructions),
  },
  long_system: {
    level: 'warning',
    advice:
      'The system message is long. Move examples and data out of it, or send them only where they are needed.',
    find: ({ instructions }, { max_system_tokens: most }) =>
      where(instructions.filter(isSystem), ({ text }) => (estimateTokens([text]) > most ? 1 : 0)),
  },
  injection_prone: {
    level: 'warning',
    advice:
      'A text of somebody else follows the instructions without a border, so that it can pass for one. Put it between tags, or into a message of its own.',
    find: ({ instructions }) =>
      where(instructions, (one) =>
        foreign.test(one.text) || (isSystem(one) && userInSystem.test(one.text)) ? 1 : 0,
      ),
  },
}

function noFormat({ instructions, hasForm }: Prompt): Weakness[] {
  const prose = instructions.map((one) => one.prose).join('\n')
  const last = instructions.at(-1)
  return last && !hasForm && dataWanted.test(prose) && !formNamed.test(prose)
    ? [{ at: last.at, count: 1 }]
    : []
}

/** Paragraphs and sentences that were there before, each counted where it is repeated. */
function duplicates(instructions: readonly Instruction[]): Weakness[] {
  const seen = new Set<string>()
  return where(instructions, ({ prose }) => {
    let count = 0
    for (const part of prose.split(/\n+|(?<=[.!?])\s+/)) {
      const text = part.trim().replaceAll(/\s+/g, ' ').toLowerCase()
      if (text.length < shortestDuplicate) continue
      if (seen.has(text)) count += 1
      seen.add(text)
    }
    return count
  })
}
