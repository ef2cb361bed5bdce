namespace QuickSilver.Core.Storage;

// What the system's refusals mean. The runtime hands on the system's own number: errno, or on Windows an HRESULT.
internal static class FileErrors
{
    private const int LinuxAgain = 11;
    private const int LinuxNoSpace = 28;
    private const int ReadOnlyFileSystem = 30;
    private const int LinuxQuota = 122;
    private const int MacAgain = 35;
    private const int MacQuota = 69;
    private const int WindowsWriteProtect = unchecked((int)0x80070013);
    private const int WindowsSharing = unchecked((int)0x80070020);
    private const int WindowsHandleDiskFull = unchecked((int)0x80070027);
    private const int WindowsDiskFull = unchecked((int)0x80070070);

    public static LogError Of(Exception exception) => exception switch
    {
        UnauthorizedAccessException => LogError.NoPermission,
        IOException => Of(exception.HResult),
        _ => LogError.Device,
    };

    private static LogError Of(int code) => code switch
    {
        LinuxNoSpace or WindowsHandleDiskFull or WindowsDiskFull => LogError.NoSpace,
        WindowsWriteProtect => LogError.ReadOnly,
        ReadOnlyFileSystem when !OperatingSystem.IsWindows() => LogError.ReadOnly,
        LinuxQuota when OperatingSystem.IsLinux() => LogError.NoSpace,
        MacQuota when OperatingSystem.IsMacOS() => LogError.NoSpace,
        LinuxAgain when OperatingSystem.IsLinux() => LogError.InUse,
        MacAgain when OperatingSystem.IsMacOS() => LogError.InUse,
        WindowsSharing => LogError.InUse,
        _ => LogError.Device,
    };
}
