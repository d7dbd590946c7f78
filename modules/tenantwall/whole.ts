/**
 * The routes that show the gateway as a whole. What one tenant does shows in their figures, such as how many calls there were and
 * how long a provider took, so no user may see them.
 */
const whole = /^\/api\/(status|(proxy|observe)\/status|proxy\/providers(\/[^/]+)?)\/?$/

export const showsWhole = (path: string): boolean => whole.test(path)
