using System.CommandLine;

namespace QuickSilver.Tool.Commands;

// What makes a shell complete commands, options, and the names of topics and nodes. The program itself says what can follow, when it is run
// with the directive [suggest]. The scripts evaluate nothing of what it says: the names of topics come from others.
internal static class CompletionCommand
{
    private const string Bash = """
        # eval "$(qsm completion bash)" in ~/.bashrc
        _qsm_complete() {
            local found
            COMPREPLY=()
            while IFS= read -r found; do
                [[ $found == "${COMP_WORDS[COMP_CWORD]}"* ]] && COMPREPLY+=("$found")
            done < <(qsm "[suggest:${COMP_POINT}]" "${COMP_LINE}" 2>/dev/null)
        }
        complete -o default -F _qsm_complete qsm
        """;

    private const string Zsh = """
        # eval "$(qsm completion zsh)" in ~/.zshrc, after compinit
        _qsm_complete() {
            local -a found
            found=("${(@f)$(qsm "[suggest:${CURSOR}]" "${BUFFER}" 2>/dev/null)}")
            compadd -a found
        }
        compdef _qsm_complete qsm
        """;

    private const string Fish = """
        # qsm completion fish > ~/.config/fish/completions/qsm.fish
        complete -c qsm -f -a '(qsm "[suggest:"(commandline -C)"]" (commandline -p) 2>/dev/null)'
        """;

    private const string PowerShell = """
        # qsm completion pwsh | Out-String | Invoke-Expression in $PROFILE
        Register-ArgumentCompleter -Native -CommandName qsm -ScriptBlock {
            param($word, $line, $position)
            qsm "[suggest:$position]" "$line" | Where-Object { $_ -like "$word*" } | ForEach-Object {
                [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
            }
        }
        """;

    public static Command Create() => new("completion", "Print the script that makes a shell complete commands, options, topics and nodes.")
    {
        For("bash", Bash), For("zsh", Zsh), For("fish", Fish), For("pwsh", PowerShell),
    };

    private static Command For(string shell, string script)
    {
        var command = new Command(shell, $"For {shell}. The first line of the script says where it goes.");
        command.SetAction(_ => Console.Out.WriteLine(script));
        return command;
    }
}
