using System.Net;

namespace QuickSilver.Tool.Sessions;

// Why a command does not use a network without a key, and the three ways on, in the words of its command line.
internal static class Unprotected
{
    public static string Interface(string choice) =>
        Text("the interface is not loopback", choice, $"use --interface {IPAddress.Loopback}, the default");

    public static string Service(IPEndPoint listen) => Text(
        "this address is not loopback", listen.ToString(), $"use --listen {new IPEndPoint(IPAddress.Loopback, listen.Port)}");

    private static string Text(string what, string chosen, string stay) =>
        $"--security is missing, and {what}: {chosen}. Everyone who reaches its network could read all messages, publish, and take the "
        + "place of the membership service. Do one of three things. To protect the cluster, make a secret with 'qsm keys secret --out "
        + "cluster.secret', copy it to all its machines, and add --security cluster.secret. To run without protection, add --security "
        + $"none. To stay on this machine, {stay}.";
}
