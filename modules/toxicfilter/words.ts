/** The categories that words are found for. */
export const wordCategories = ['profanity', 'slur'] as const
export type WordCategory = (typeof wordCategories)[number]

/**
 * Words of `obscenity` that hardly ever mean anything else, by category. Its other words are left out: they are also names, words
 * of other languages, or what doctors say.
 */
export const fromLibrary: Readonly<Record<WordCategory, readonly string[]>> = {
  profanity: ['bitch', 'blowjob', 'bollocks', 'cunt', 'jizz', 'shit', 'slut', 'turd', 'twat', 'whore'],
  slur: ['abeed', 'africoon', 'arabush', 'chingchong', 'nigger', 'tranny'],
}

const terms = (list: string): readonly string[] => list.trim().split(/\s+/)

/**
 * Further words, in the syntax of `obscenity`: `|` is the end of a word, `[x]` may be missing. English, German, French, Spanish,
 * Italian and Portuguese, in letters without accents, as texts are read.
 */
export const further: Readonly<Record<WordCategory, readonly string[]>> = {
  profanity: terms(`
    fuck |fck| |fcking |fuk| |fukin fvck |fuker motherf asshole arsehole dumbas[s]| jackas[s]| bastards| dickhead cocksuck |pis[s]| |pis[s]ed| |pussies| |wank| |wanker
    |wanking bullshit
    arschloch arschlocher |arsch| |arschgeig |leckarsch scheis[s]e |scheis[s] |beschis[s]en |ficken |fickt| |fick| |gefickt |verfickt
    |fotze |hurensohn |hure| |huren| |wichser |wixer |schlampe |miststuck |drecksau |nutte| |nutten| |mis[s]geburt
    |putain| |merde| |merdeux |connard |connas[s]e |encule |salope |salaud |pute| |putes| |niquer |niquetamere |batard|
    |mierda |puta| |putas| |puto| |putos| |cabron |gilipol[l]as |joder| |jodido |hijoputa |pendejo |chingada |cojones|
    |caz[z]o| |stronz |vaf[f]anculo |puttana |minchia| |coglion |merda| |caralho |foda-se |porra| |filhodaputa |arrombad
  `),
  slur: terms(`
    faggot |fags| |fag| |retards| |retarded |kike| |kikes| |chinks| |gook| |gooks| |spics| |wetback |towelhead |raghead |coonas[s] |pakis|
    |neger| |negern| |nigger |kanake |schwuchtel |spast| |spasti| |mongo| |schlitzauge |judensau |kummelturke
    |bougnoul |youpin |bicot| |tapet[t]e| |sudaca |maricon |maricones |frocio| |froci| |viado| |viados| |terrone| |terroni|
  `),
}

/** Words in which the ones above stand by chance, beside those that `obscenity` knows. */
export const harmless: readonly string[] = terms('mishit shiitake slutsk wankel snigger niggard')

/** Words that are also found with letters starred out, such as `f**k`. */
export const starred: Readonly<Record<WordCategory, readonly string[]>> = {
  profanity: terms(`
    fuck fucks fucked fucker fucking motherfucker shit shits shitty bullshit bitch bitches cunt cunts asshole assholes whore slut
    scheisse scheiss arschloch arsch ficken fotze hure hurensohn wichser schlampe putain merde connard salope mierda puta cabron
    cazzo stronzo caralho
  `),
  slur: terms(
    'nigger niggers nigga niggas faggot faggots retard retards kike kikes neger kanake schwuchtel maricon',
  ),
}
