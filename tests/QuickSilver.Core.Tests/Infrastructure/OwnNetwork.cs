using System.Diagnostics;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;

namespace QuickSilver.Core.Tests.Infrastructure;

// A network namespace that exists while a test runs on a thread of its own within it, with interfaces that the test makes and removes.
internal static partial class OwnNetwork
{
    private const int NetworkNamespace = 0x40000000;

    public static void Run(Action test)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux() && System.Environment.IsPrivilegedProcess, "network namespaces need root on Linux");
        Assert.SkipUnless(File.Exists("/usr/sbin/ip") || File.Exists("/sbin/ip"), "the command `ip` of iproute2 is missing");
        ExceptionDispatchInfo? failure = null;
        bool isApart = true;
        var thread = new Thread(() =>
        {
            isApart = unshare(NetworkNamespace) == 0;
            try
            {
                if (isApart)
                {
                    test();
                }
            }
            catch (Exception exception)
            {
                failure = ExceptionDispatchInfo.Capture(exception);
            }
        });
        thread.Start();
        thread.Join();
        Assert.SkipUnless(isApart, "this process may not make a network namespace");
        failure?.Throw();
    }

    /// <summary>On the test's thread: a child begins in the namespace of the thread that starts it.</summary>
    public static void Ip(string arguments)
    {
        using var ip = Process.Start(new ProcessStartInfo("ip", arguments) { RedirectStandardError = true })!;
        string errors = ip.StandardError.ReadToEnd();
        ip.WaitForExit();
        Assert.True(ip.ExitCode == 0, $"ip {arguments}: {errors}");
    }

    [LibraryImport("libc")]
    private static partial int unshare(int kinds);
}
