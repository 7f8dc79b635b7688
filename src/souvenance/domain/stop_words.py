"""Words that say nothing about what a question is after, folded as `terms` folds words: no accents, no apostrophes.

The lists are used together, whatever the question's language: a word that names something in another of the six (hat,
man, sea, son, war, hay, die, été) is in none.
"""

from __future__ import annotations

_ENGLISH = """
a about after again all also am an and any are arent as at be because been before being but by can cant could couldnt
did didnt do does doesnt doing dont for from had hadnt has hasnt have havent having he her here hers herself him
himself his how i if in into is isnt it its itself just me more most my myself no nor not of off on once only or other
our ours out over own please same she should shouldnt so some such than that thats the their theirs them then there
these they this those through to too under until up us very was wasnt we were werent weve what when where which while
who whom whos whose why will with wont would wouldnt you your yours yourself
"""
_FRENCH = """
aie aient ainsi ait alors as au aucun aussi autre aux avaient avais avait avant avec avez avoir avons ayant ca ce cela
celle celles celui ces cet cette ceux chez comme comment dans de des donc dont du elle elles en encore entre es est et
etaient etais etait etant etc etes etre eu eux fut il ils je la le les leur leurs lors lui ma mais me meme memes mes
moi mon ne nos notre nous on ont ou par parce pas pendant peu plus pour pourquoi puis quand que quel quelle quelles
quels qui quoi sa sans se serait ses si soi sois soit sommes sont sous suis sur ta tandis te tes toi tous tout toute
toutes tres tu un une vers voici voila vos votre vous y
"""
_GERMAN = """
aber alle allem allen aller alles als also am an andere auch auf aus bei beim bis bist da damit dann das dass dein
deine deinem deinen deiner dem den denn der des dessen dich dies diese diesem diesen dieser dieses dir doch dort du
durch ein eine einem einen einer eines er es etwas euch euer gegen hab habe haben hast hatte hatten hin hinter ich ihm
ihn ihnen ihr ihre ihrem ihren ihrer in indem ins ist jede jedem jeden jeder jedes jetzt kann kein keine keinen konnen
konnte mein meine meinem meinen meiner mich mir mit muss nach nicht nichts noch nur ob oder ohne sehr sein seine seinem
seinen seiner selbst sich sie sind so solche soll sondern sonst uber um und uns unser unsere unter vom von vor wann
waren warum was weil welche welchem welchen welcher welches wenn wer werde werden wie wieder will wir wird wo wollen
wurde wurden zu zum zur zwar zwischen
"""
_SPANISH = """
a al algo algun alguna algunas alguno algunos ante antes aquel aquella aquello como con contra cual cuales cuando de
del desde donde el ella ellas ellos en entre eran eres es esa esas ese eso esos esta estaba estado estan estar estas
este esto estos estoy fue fueron ha habia han has hasta he la las le les lo los mas me mi mis mucho muchos muy nada ni
no nos nosotros nuestra nuestro o os otra otro para pero poco por porque que quien quienes se ser si sido sobre soy su
sus tambien tanto te tener tengo ti tiene tienen toda todo todos tu tus un una uno unos vosotros vuestra y ya yo
"""
_PORTUGUESE = """
a ao aos aquela aquele aquilo as ate com como da das de dela dele deles depois do e ela elas ele eles em entre essa
esse esta estao estava este estou eu foi foram fosse ha isso isto ja lhe mais mas me mesmo meu meus minha minhas muito
na nao nas nem no nos nossa nosso num numa o os ou para pela pelas pelo pelos por porque qual quando que quem quero se
sem ser seu seus so sua suas tambem te tem tenho ter teu tinha tua um uma umas uns voce voces
"""
_ITALIAN = """
a abbiamo ad agli al alla alle allo anche avere aveva che chi ci come con cosa cui da dagli dai dal dalla dalle de
degli dei del della delle dello di dov dove e ed erano essere fa fu gli ha hai hanno ho i il in io la le lei li lo loro
lui ma me mi mie miei mio molto ne negli nei nel nella nelle noi non nostra nostro o ogni per perche piu poi quale
quando quanto quella quelle quelli quello questa queste questi questo se sei sembra senza si sia siamo sono sta stato
su sua sugli sui sul sulla suo suoi ti tra tu tua tuo tutti tutto un una uno vi voi vostra vostro
"""

STOP_WORDS = frozenset(f"{_ENGLISH} {_FRENCH} {_GERMAN} {_SPANISH} {_PORTUGUESE} {_ITALIAN}".split())
