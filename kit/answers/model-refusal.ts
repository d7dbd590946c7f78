/** A refusal comes first in an answer. */
const looked = 200

/** How models begin to decline, in the languages that they are asked in most. */
const beginnings = [
  "i(?:'m| am) (?:(?:very |really |so )?sorry|afraid)[^.!]{0,40}?(?:can(?:no|')t|unable|not able|won't|must decline)",
  "(?:sorry|unfortunately|i apologi[sz]e)[^.!]{0,40}?\\bi(?:'m| am)? ?(?:can(?:no|')t|unable|not able|won't|must decline)",
  "i (?:can(?:no|')t|won't|am unable to|am not able to|must decline to) (?:help|assist|provide|do|create|generate|write|share|discuss|fulfil|comply|support|engage|answer)",
  "as an ai[^.!]{0,60}?(?:cannot|can't|unable|not able)",
  '(?:es )?tut mir (?:sehr )?leid[^.!]{0,60}?(?:kann|darf) (?:ich )?[^.!]{0,40}?nicht',
  'leider kann ich[^.!]{0,40}?nicht',
  '(?:je suis )?d[ée]sol[ée]e?[^.!]{0,60}?je ne (?:peux|suis) pas',
  'lo siento[^.!]{0,60}?no puedo',
  '(?:desculpe|sinto muito|lamento)[^.!]{0,60}?n[ãa]o posso',
  'mi dispiace[^.!]{0,60}?non posso',
  '(?:het )?spijt me[^.!]{0,60}?kan[^.!]{0,40}?niet',
  '(?:抱歉|很抱歉|对不起|對不起)[^。！]{0,30}?(?:无法|無法|不能)',
  '(?:申し訳|すみません|恐れ入ります)[^。！]{0,40}?(?:できません|できかねます|いたしかねます)',
  '(?:죄송|미안)[^.!]{0,40}?(?:수 없|못)',
  '(?:извините|простите|к сожалению)[^.!]{0,60}?(?:не могу|не в состоянии)',
]

const refusal = new RegExp(`^\\s*(?:${beginnings.join('|')})`, 'iu')

/** Whether a model declines: it says so in its own field, or its text begins as refusals do. */
export const isModelRefusal = (refused: unknown, text: string): boolean =>
  (typeof refused === 'string' && refused !== '') || refusal.test(text.slice(0, looked).replaceAll('’', "'"))
