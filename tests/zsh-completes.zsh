# SPDX-License-Identifier: GPL-3.0-or-later
# zsh tests/zsh-completes.zsh SCRIPT LINE…: prints what becomes of each line when Tab is pressed
# behind it, in a zsh on a terminal of its own which has read the SCRIPT. In a scratch folder.
zmodload zsh/zpty
await() {
    local i
    for ((i = 0; i < 200; i++)); do
        [[ -e said ]] && return
        sleep 0.05
    done
    echo 'no answer' >said
}
script=$1
shift
rm -f said
zpty z zsh -f -i
zpty -w z "PS1= PS2= TERM=dumb; autoload -U compinit; compinit -u -D; . ./$script; compdef _onnxdbg onnxdbg"
zpty -w z 'show() { print -r -- "${BUFFER% }" >|said.part; mv said.part said; BUFFER= }; zle -N show'
zpty -w z 'bindkey "^X" show; bindkey "^I" complete-word; print ready >|said'
await
for line; do
    rm -f said
    zpty -w -n z "$line"$'\t\x18'
    await
    cat said
done
zpty -d z
