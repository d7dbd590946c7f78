import type { Form } from '../detection/form.ts'

/** A kind of credential. Patterns are bounded and have no nested repetition, so that they match in linear time. */
export interface Rule extends Form {
  readonly label: string
  /** Whether it finds something in texts without any word that is like a credential. */
  readonly anywhere?: true
}

/**
 * Forms that the library does not know, or knows more narrowly than a guard should: a linter must not cry wolf over a
 * key that lacks a character, a guard must not let it pass. As their issuers document them.
 */
export const rules: readonly Rule[] = [
  {
    label: 'private_key',
    anywhere: true,
    pattern:
      /-----BEGIN (?:[A-Z0-9]{2,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]){0,4}(?:[A-Z][\w-]{1,20}: [^\n\\]{1,100}(?:\s|\\[nr]){1,4}){0,5}[A-Za-z0-9+/=\s\\]{20,12000}(?:-----END (?:[A-Z0-9]{2,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----)?/g,
    holds: (key) => key.endsWith('-----') || /[A-Za-z0-9+/=]{40}/.test(key),
  },
  { label: 'anthropic_key', pattern: /\bsk-ant-[\w-]{20,200}/g },
  { label: 'openai_key', pattern: /\bsk-(?:proj-|svcacct-|admin-)?(?=[A-Za-z_-]{0,60}\d)[\w-]{20,200}/g },
  { label: 'aws_access_key', pattern: /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/g },
  {
    label: 'aws_secret_key',
    after: /aws[\w-]{0,20}secret[\w-]{0,20}["'\s:=]{1,5}/gi,
    pattern: /[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/y,
  },
  { label: 'azure_key', after: /\bAccountKey=/g, pattern: /[A-Za-z0-9+/]{86}==/y },
  { label: 'google_api_key', pattern: /\bAIza[\w-]{35}(?![\w-])/g },
  { label: 'google_oauth_secret', pattern: /\bGOCSPX-[\w-]{28}(?![\w-])/g },
  { label: 'google_access_token', pattern: /\bya29\.[\w-]{30,300}/g },
  { label: 'github_token', pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_\w{22,244})/g },
  { label: 'gitlab_token', pattern: /\bgl(?:pat|dt|rt|ptt|cbt|agent|oas)-[\w-]{20,128}/g },
  { label: 'slack_token', pattern: /\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,200}/g },
  { label: 'stripe_key', pattern: /\b(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,120}\b/g },
  { label: 'twilio_key', pattern: /\bSK[0-9a-f]{32}\b/g },
  { label: 'mailgun_key', pattern: /\bkey-[0-9a-f]{32}\b/g },
  { label: 'npm_token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/g },
  { label: 'npm_token', after: /_authToken=/g, pattern: /[\w+/=.~-]{8,200}/y },
  { label: 'pypi_token', pattern: /\bpypi-AgEIcHlwaS5vcmc[\w-]{50,250}/g },
  { label: 'huggingface_token', pattern: /\bhf_[A-Za-z0-9]{30,50}\b/g },
  { label: 'groq_key', pattern: /\bgsk_[A-Za-z0-9]{40,64}\b/g },
  { label: 'xai_key', pattern: /\bxai-[A-Za-z0-9]{40,100}\b/g },
  { label: 'perplexity_key', pattern: /\bpplx-[A-Za-z0-9]{40,64}\b/g },
  { label: 'replicate_token', pattern: /\br8_[A-Za-z0-9]{37,40}\b/g },
  { label: 'telegram_token', pattern: /(?<!\w)\d{8,10}:AA[\w-]{33}(?![\w-])/g },
  { label: 'discord_token', pattern: /\b[MNO][A-Za-z\d_-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/g },
  { label: 'digitalocean_token', pattern: /\bdo[opr]_v1_[a-f0-9]{64}\b/g },
  { label: 'atlassian_token', pattern: /\bATATT3[\w=-]{100,250}/g },
  { label: 'postman_key', pattern: /\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}\b/g },
  { label: 'age_key', pattern: /\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b/g },
  { label: 'gateway_key', pattern: /\b(?:sy_(?:live_|admin_)|sk-sy-)[A-Za-z0-9_-]{20,100}/g },
  { label: 'jwt', pattern: /(?<![\w-])eyJ[\w-]{10,1000}\.eyJ[\w-]{10,4000}\.[\w-]{10,1000}/g },
  {
    label: 'connection_string',
    anywhere: true,
    sign: { pattern: /:\/\//, within: 11 },
    pattern:
      /\b(?:postgres(?:ql)?|mysqlx?|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|sqlserver|clickhouse|nats|ldaps?|smtps?|ftps?|sftp):\/\/[[!-~]--[:\/@"'<>]]{0,100}:[[!-~]--[\/@"'<>]]{1,200}@[[!-~]--["'<>\(\)]]{1,200}/gv,
    holds: (uri) => !isPlaceholder(/:\/\/[^:]*:([^@]*)/.exec(uri)![1]!),
  },
  {
    label: 'bearer_token',
    after: /\bbearer\s/gi,
    pattern: /[\w.~+/-]{20,500}={0,2}/y,
    holds: (token) => /\d/.test(token) && !isIdentifier(token),
  },
  {
    label: 'basic_credentials',
    anywhere: true,
    after: /\bauthorization["']?: ?["']?basic /gi,
    pattern: /[A-Za-z0-9+/]{12,200}={0,2}/y,
  },
  {
    label: 'password',
    anywhere: true,
    after: /(?:passw(?:or)?d|passphrase|pwd)["'`]?\s?(?:[:=]|is)\s?["'`]?/gi,
    pattern: /[[!-~]--["'`<>,;]]{8,100}/vy,
    holds: (value) => classesOf(value) >= 3 && !isPlaceholder(value),
  },
  {
    label: 'secret',
    after:
      /(?:api[_-]?key|secret|token|credential|access[_-]?key|private[_-]?key|auth)["'`]?\s{0,2}[:=]\s{0,2}["'`]?/gi,
    pattern: /[\w+/=.~-]{16,200}/y,
    holds: (value) => /\d/.test(value) && entropyOf(value) >= 3.5 && !isIdentifier(value),
  },
]

/** Runs of characters that are too random for words, names, numbers or hashes, whatever they are named. */
export const randomText: Rule = {
  label: 'random_text',
  pattern: /(?<![\w+/=.-])[A-Za-z0-9_-]{24,128}(?![\w+/=-])/g,
  holds: (value) =>
    classesOf(value.replace(/[_-]/g, '')) === 3 && entropyOf(value) >= 4 && !isIdentifier(value),
}

/** Longest finding with what it looks ahead for, in characters: a private key. */
export const secretReach = 12_288

/** Findings longer than this begin in one of a few ways. */
export const usualSecretLength = 512

/** Beginnings, private keys aside, of findings that may be longer than usual. */
export const longForm = /\beyJ|\bghs_|\bops_ey/

/** Bits a character, from the frequency of each (Shannon). */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

/** How many of the kinds of characters a text has: lower case, upper case, digits, anything else. */
function classesOf(text: string): number {
  return [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z\d]/].filter((kind) => kind.test(text)).length
}

/** A variable or an example where a value would stand. */
const isPlaceholder = (text: string): boolean =>
  /[${}%]|^(.)\1*$|^\[|^(?:password|secret|example|x+)$/i.test(text)

/** UUIDs, and names with numbers in them: words joined by signs, such as `gpt-4o-mini-2024-07-18`. */
const isIdentifier = (text: string): boolean =>
  /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) ||
  text.split(/[_./-]/).every((word) => /^(?:[A-Z]?[a-z]*|[A-Z]+|\d+|\w{1,3})$/.test(word))
