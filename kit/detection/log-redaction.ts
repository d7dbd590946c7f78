const mask = '[redacted]'

/** Names of fields whose value is a secret, in any spelling: `apiKey`, `x-api-key`, `OPENAI_API_KEY`, `newPassword`. */
const secretName =
  /(?:(?:api|admin|access|private|secret|signing|encryption|license|provider|user)[_-]?keys?|authorization|passw(?:or)?d|passphrase|secrets?|token|cookies?|credentials?)$/i

/** The same names inside a text, before a value: in a query string, a header dump, or JSON within JSON. */
const namedValue =
  /((?:(?:api|admin|access|private|secret|encryption|license)[_-]?key|authorization|passw(?:or)?d|passphrase|secret|token|cookie|[?&]key)(?:\\?["'])?\s*[:=]\s*(?:\\?["'])?)(?:(?:bearer|basic)\s+)?[^\s"'\\,;&}]+/gi

/**
 * The forms of secrets, wherever they stand: credentials of a scheme, keys by their makers' prefixes, JWTs, logins in
 * addresses.
 */
const secretText =
  /\b(?:bearer|basic)\s+[\w.~+/=-]{6,}|\b(?:sk|pk|rk)-[\w-]{8,}|\bsy_\w{8,}|\b(?:gsk|hf|fw|r8|ghp|gho|github_pat|whsec|xox[abp])_[\w-]{10,}|\b(?:xai|pplx)-[\w-]{10,}|\bAIza[\w-]{20,}|\bA[KS]IA[A-Z0-9]{12,}|\beyJ[\w-]{8,2048}\.[\w-]+\.[\w-]*|(?<=:\/\/)[^\s/@:"\\]*:[^\s/@"\\]+(?=@)/gi

/** Whether a line may hold a secret at all; most do not and are written as they are. */
const suspicious =
  /key|authorization|passw|passphrase|secret|token|cookie|credential|bearer|basic|(?:sk|pk|rk|xai|pplx)-|(?:sy|gsk|hf|fw|r8|ghp|gho|github_pat|whsec|xox[abp])_|AIza|A[KS]IA|eyJ|:\/\//i

/** A text without what looks like a secret. */
export function redactText(text: string): string {
  return text.replace(secretText, mask).replace(namedValue, `$1${mask}`)
}

/** A JSON line in which neither the fields named like secrets nor the texts that look like them have a value. */
export function redactLine(line: string): string {
  if (!suspicious.test(line)) return line
  // The names of fields may be keys as well; no pattern of `secretText` reaches across a quote.
  return `${JSON.stringify(JSON.parse(line.replace(secretText, mask)), (name, value: unknown) => {
    if (secretName.test(name) && value !== null && typeof value !== 'boolean') return mask
    return typeof value === 'string' ? redactText(value) : value
  })}\n`
}
