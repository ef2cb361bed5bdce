using System.CommandLine;
using System.Security.Cryptography;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Keys;

// A new secret.
internal static class SecretCommand
{
    public static Command Create()
    {
        var name = new Argument<string>("NAME")
        {
            Description = "The name of the secret, which is the identity of all who have it.",
            DefaultValueFactory = _ => "cluster",
        };
        name.Validators.Add(static result =>
        {
            if (result.Tokens.Count > 0 && Secret.FaultOf(result.Tokens[^1].Value) is { } fault)
            {
                result.AddError($"NAME: {fault}");
            }
        });
        var to = new Option<string?>("--out")
        {
            Description = "The file to write, which only this user can read. By default, the secret goes to standard output.",
            HelpName = "FILE",
        };
        var force = KeysCommand.Force();
        const string Purpose = "Make a secret of 256 random bits, which all processes of a cluster share.";
        var command = new Command("secret", Purpose) { name, to, force };
        command.SetAction(parse => KeyFile.Run(() =>
        {
            string text = Secret.Of(parse.GetValue(name)!, RandomNumberGenerator.GetBytes(Secret.LeastKeyBytes)).Reveal() + "\n";
            if (parse.GetValue(to) is { } path)
            {
                KeyFile.Write(path, text, parse.GetValue(force));
            }
            else
            {
                Console.Out.Write(text);
                if (!Console.IsOutputRedirected)
                {
                    Terminal.Note("This is the secret. Write it to a file that only the user of the node can read: --out FILE.");
                }
            }

            return ExitCode.Ok;
        }));
        return command;
    }
}
