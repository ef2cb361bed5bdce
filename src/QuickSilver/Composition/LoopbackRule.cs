using System.Net;

namespace QuickSilver.Composition;

// A process without a key stays on the loopback interface, unless its options say by name that it is not protected. Everyone who reaches
// its network could otherwise read, publish, and take the place of its service, without a decision to allow that.
internal static class LoopbackRule
{
    private const string Group = nameof(QuickSilverOptions.Security);
    private const string Mode = $"{Group}:{nameof(SecurityOptions.Mode)}";
    private const string SecretFile = $"{Group}:{nameof(SecurityOptions.SecretFile)}";

    /// <summary>Whether a process with these options must not use this address, which may be that of any interface.</summary>
    public static bool Refuses(SecurityOptions security, IPAddress local) =>
        security is { Mode: SecurityMode.Auto, HasKey: false } && !IPAddress.IsLoopback(local);

    /// <exception cref="QuickSilverOptionsException">The interface goes beyond this machine, and nothing protects the node.</exception>
    public static void Check(SecurityOptions security, InterfaceChoice choice)
    {
        if (!Refuses(security, choice.Address))
        {
            return;
        }

        throw new QuickSilverOptionsException(
            [$"The option {Mode} is {security.Mode}, without a secret or a certificate, and the interface is not loopback: {choice}. "
             + "Everyone who reaches its network could read all messages, publish, and take the place of the membership service. Do one of "
             + "three things. To protect the cluster, make a secret with 'qsm keys secret --out cluster.secret', copy it to all its "
             + $"machines, and name the file in {SecretFile}. To run without protection, set {Mode} to {SecurityMode.None} (in code: "
             + $"{Group} = {nameof(SecurityOptions)}.{nameof(SecurityOptions.None)}). To stay on this machine, set "
             + $"{nameof(QuickSilverOptions.Interface)} to {IPAddress.Loopback}."])
        {
            Unprotected = choice.ToString(),
        };
    }
}
