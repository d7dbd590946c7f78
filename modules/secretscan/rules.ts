/** A kind of credential. Patterns are bounded and have no nested repetition, so that they match in linear time. */
export interface Rule {
  readonly label: string
  readonly pattern: RegExp
  /** Which group is the secret; all of the match without it. */
  readonly group?: number
  /** Least Shannon entropy of the secret, in bits a character. */
  readonly entropy?: number
}

/** Forms as their issuers document them; the prefix comes first, so that a scan skips quickly over ordinary text. */
export const rules: readonly Rule[] = [
  {
    label: 'private_key',
    pattern:
      /-----BEGIN (?:[A-Z]{2,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----[^-]{1,4000}-----END (?:[A-Z]{2,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g,
  },
  { label: 'anthropic_key', pattern: /\bsk-ant-[\w-]{20,200}/g },
  { label: 'openai_key', pattern: /\bsk-(?:proj-|svcacct-|admin-)?[\w-]{20,200}/g },
  { label: 'aws_access_key', pattern: /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/g },
  {
    label: 'aws_secret_key',
    pattern: /\baws[\w-]{0,20}secret[\w-]{0,20}["'\s:=]{1,5}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/gi,
    group: 1,
  },
  { label: 'google_api_key', pattern: /\bAIza[\w-]{35}(?![\w-])/g },
  { label: 'google_oauth_secret', pattern: /\bGOCSPX-[\w-]{28}(?![\w-])/g },
  { label: 'github_token', pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_\w{22,244})/g },
  { label: 'gitlab_token', pattern: /\bglpat-[\w-]{20,64}/g },
  { label: 'slack_token', pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,200}/g },
  {
    label: 'slack_webhook',
    pattern: /https:\/\/hooks\.slack\.com\/services\/T\w{6,12}\/B\w{6,14}\/\w{20,40}/g,
  },
  { label: 'stripe_key', pattern: /\b(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,120}\b/g },
  { label: 'sendgrid_key', pattern: /\bSG\.[\w-]{16,32}\.[\w-]{16,64}/g },
  { label: 'twilio_key', pattern: /\bSK[0-9a-f]{32}\b/g },
  { label: 'npm_token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/g },
  { label: 'pypi_token', pattern: /\bpypi-AgEIcHlwaS5vcmc[\w-]{50,250}/g },
  { label: 'huggingface_token', pattern: /\bhf_[A-Za-z0-9]{30,50}\b/g },
  { label: 'groq_key', pattern: /\bgsk_[A-Za-z0-9]{40,64}\b/g },
  { label: 'xai_key', pattern: /\bxai-[A-Za-z0-9]{40,100}\b/g },
  { label: 'gateway_key', pattern: /\b(?:sy_(?:live_|admin_)|sk-sy-)[A-Za-z0-9_-]{20,100}/g },
  { label: 'jwt', pattern: /\beyJ[\w-]{10,600}\.eyJ[\w-]{10,1200}\.[\w-]{10,700}/g },
  {
    label: 'connection_string',
    pattern:
      /\b(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|sqlserver):\/\/[^\s:/@"']{0,100}:[^\s@/"']{1,200}@[^\s"'<>]{1,200}/g,
  },
  {
    label: 'secret',
    pattern:
      /\b(?:api[_-]?key|secret|token|passw(?:or)?d|credential)["']?\s{0,2}[:=]\s{0,2}["']?((?=[A-Za-z+/=.~_-]{0,199}\d)[\w+/=.~-]{16,200})/gi,
    group: 1,
    entropy: 3.5,
  },
]

/** Longest finding with what stands around it, in characters. */
export const reach = 4200

/** Bits a character, from the frequency of each (Shannon). */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}
