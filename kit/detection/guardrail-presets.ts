import { isCard, isIban } from './check-digits.ts'

/** A ready-made pattern. */
export interface GuardrailPreset {
  readonly type: 'pii' | 'secret' | 'injection'
  readonly description: string
  /** In RE2 syntax. */
  readonly pattern: string
  readonly flags: string
  /** Of longer matches, so many characters count. */
  readonly max_length: number
  /** Whether a match is really one, by its check digits. */
  readonly holds?: (text: string) => boolean
}

/** Patterns that most operators need, by name. Numbers with check digits count only if these are right. */
export const guardrailPresets: Readonly<Record<string, GuardrailPreset>> = {
  email: {
    type: 'pii',
    description: 'E-mail addresses.',
    pattern: String.raw`\b[\w.%+-]{1,64}@(?:[a-z0-9-]{1,40}\.){1,4}[a-z]{2,24}\b`,
    flags: 'i',
    max_length: 254,
  },
  phone: {
    type: 'pii',
    description: 'Telephone numbers with a country code, and American ones.',
    pattern: String.raw`\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{2,4}(?:[ .-]?\d{2,4}){1,4}\b|\(?\b\d{3}\)?[ .-]\d{3}[ .-]\d{4}\b`,
    flags: '',
    max_length: 40,
  },
  credit_card: {
    type: 'pii',
    description: 'Card numbers of 13 to 19 digits with the check digit of Luhn.',
    pattern: String.raw`\b\d(?:[ -]?\d){12,18}\b`,
    flags: '',
    max_length: 40,
    holds: isCard,
  },
  ssn: {
    type: 'pii',
    description: 'Social security numbers of the United States.',
    pattern: String.raw`\b\d{3}-\d{2}-\d{4}\b`,
    flags: '',
    max_length: 12,
    holds: (text) => !/^(?:000|666|9)|-00-|-0000$/.test(text),
  },
  iban: {
    type: 'pii',
    description: 'International bank account numbers with their check digits.',
    pattern: String.raw`\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b`,
    flags: '',
    max_length: 43,
    holds: isIban,
  },
  ipv4: {
    type: 'pii',
    description: 'IPv4 addresses.',
    pattern: String.raw`\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b`,
    flags: '',
    max_length: 16,
  },
  api_key: {
    type: 'secret',
    description: 'Keys of OpenAI, Anthropic, GitHub, Slack, Stripe, Google and of this gateway.',
    pattern: String.raw`\b(?:sk-(?:ant-|proj-|sy-)?[\w-]{20,180}|sy_(?:live|admin)_\w{20,80}|gh[pousr]_\w{36,100}|xox[abprs]-[\w-]{10,120}|[rs]k_live_\w{16,100}|AIza[\w-]{35})\b`,
    flags: '',
    max_length: 200,
  },
  aws_key: {
    type: 'secret',
    description: 'Access key ids of AWS.',
    pattern: String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
    flags: '',
    max_length: 21,
  },
  private_key: {
    type: 'secret',
    description: 'The first line of a private key in PEM.',
    pattern: '-----BEGIN (?:[A-Z]{2,10} ){0,2}PRIVATE KEY-----',
    flags: '',
    max_length: 60,
  },
  jwt: {
    type: 'secret',
    description: 'The first two parts of a JSON Web Token.',
    pattern: String.raw`\beyJ[\w-]{8,200}\.eyJ[\w-]{8,200}`,
    flags: '',
    max_length: 410,
  },
  ignore_instructions: {
    type: 'injection',
    description: 'Requests to ignore the instructions that came before.',
    pattern: String.raw`\b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+)?(?:of\s+)?(?:your\s+|the\s+|my\s+)?(?:previous|prior|above|earlier|preceding)\s+(?:instructions?|prompts?|rules|messages)\b`,
    flags: 'i',
    max_length: 120,
  },
}
