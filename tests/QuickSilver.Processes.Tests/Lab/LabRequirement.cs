using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Lab;

// Says why a machine cannot host the lab, and skips the test with that reason.
internal static class LabRequirement
{
    public static void SkipUnlessMet()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "network namespaces exist on Linux only");
        Assert.SkipUnless(Linux.EffectiveUser() == 0, "network namespaces and TAP devices need root");
        Assert.SkipUnless(File.Exists("/dev/net/tun"), "/dev/net/tun is missing");
        Assert.SkipUnless(IpCommand.IsInstalled, "the command `ip` of iproute2 is missing");
    }
}
