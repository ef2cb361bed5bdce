using System.Globalization;

namespace QuickSilver.Campaign.Contenders;

// What a process and those that it started have used of the processors, as the kernel counts it.
internal static class ProcessTree
{
    private const double JiffiesPerSecond = 100;

    // Of the fields after the name in parentheses: parent, user time, system time.
    private const int ParentField = 1;
    private const int UserField = 11;
    private const int SystemField = 12;

    public static double CpuSeconds(int root)
    {
        var processes = Directory.EnumerateDirectories("/proc")
            .Select(folder => int.TryParse(Path.GetFileName(folder), CultureInfo.InvariantCulture, out int id) ? id : 0)
            .Where(id => id > 0)
            .Select(id => (Id: id, Fields: Fields(id)))
            .Where(process => process.Fields.Length > SystemField)
            .ToList();
        long Jiffies(int id) => processes
            .Where(process => process.Id == id || Number(process.Fields, ParentField) == id)
            .Sum(process => process.Id == id
                ? Number(process.Fields, UserField) + Number(process.Fields, SystemField)
                : Jiffies(process.Id));
        return Jiffies(root) / JiffiesPerSecond;
    }

    private static long Number(string[] fields, int index) => long.Parse(fields[index], CultureInfo.InvariantCulture);

    // None if it has ended.
    private static string[] Fields(int id)
    {
        try
        {
            string stat = File.ReadAllText($"/proc/{id}/stat");
            return stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
        }
        catch (IOException)
        {
            return [];
        }
    }
}
