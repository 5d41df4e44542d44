/** Words that say nothing about which tool is meant, in texts and in queries alike. Lower case, apostrophes removed. */
export const stopWords: ReadonlySet<string> = new Set(
  [
    'a an the of to for in on at by with from into onto about as via per and or but if so than then also just not no',
    'is are was were be been being am do does did doing done have has had having can could would should shall will may might must',
    'i me my mine we us our ours you your yours he him his she her it its they them their this that these those there here',
    'what which who whom whose when where why how any some such very too',
    'im ive id ill dont cant s t d m re ve ll please want need like let help tell give show',
  ].flatMap((line) => line.split(' ')),
);
