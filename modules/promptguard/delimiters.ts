import type { Signal } from './signal.ts'

/** The forms of messages and of ends of data, which a text within a message has no reason to have. */
const forms: readonly { readonly pattern: RegExp; readonly weight: number }[] = [
  {
    pattern: /<\|(?:im_start|start_header_id|start)\|>\s{0,3}(?:system|assistant|developer|user)/gi,
    weight: 0.75,
  },
  { pattern: /<\|(?:im_end|eot_id|endoftext|end)\|>\s{0,4}<\|/gi, weight: 0.7 },
  { pattern: /\[\/INST\]|<<SYS>>|<\/?s>\s{0,3}\[INST\]|<start_of_turn>|\|DEVELOPER\|/g, weight: 0.6 },
  { pattern: /<\|(?:im_start|im_end|system|assistant|eot_id|endoftext)\|>/gi, weight: 0.4 },
  {
    pattern: /<\/(?:system|user_input|user_query|document|context|data|input|untrusted|tool_result)>/gi,
    weight: 0.35,
  },
  { pattern: /<(?:system|admin|developer|instructions?|override|important)>/gi, weight: 0.35 },
  {
    pattern:
      /(?:^|\n)[ \t]{0,4}(?:#{1,4}[ \t]{0,2})?\[?(?:system|developer|admin|root)(?:[ _](?:message|prompt|note|instruction|override|update|alert|notice))?\]?(?:\(#\w+\))?[ \t]{0,2}[:>\]]/gi,
    weight: 0.4,
  },
  {
    pattern:
      /(?:^|\n)[-=*#_ ]{2,20}(?:end|stop|begin|start|new)(?: of)? (?:the )?(?:user |system |untrusted |original |new )?(?:input|data|document|context|prompt|instructions?|conversation|text|query|session|message)\b/gi,
    weight: 0.4,
  },
  { pattern: /["'{]\s{0,2}["']?role["']?\s{0,2}:\s{0,2}["'](?:system|developer)["']/gi, weight: 0.4 },
  { pattern: /\n\n(?:Human|Assistant|User|AI):\s/g, weight: 0.25 },
  { pattern: /!\[[^\]\n]{0,80}\]\(https?:\/\/[^\s)]{3,200}[?&/=](?:\{|\[|<|%7b)[^\s)]{0,80}/gi, weight: 0.5 },
]

export function* delimiters(text: string): Generator<Signal> {
  for (const { pattern, weight } of forms)
    for (const { index, 0: found } of text.matchAll(pattern))
      yield { kind: 'forged_delimiter', weight, start: index, end: index + found.length }
}
