namespace StreamNode;

// Lines of standard output, each whole, from any thread.
internal static class Say
{
    private static readonly Lock Turn = new();

    public static void Line(string text)
    {
        lock (Turn)
        {
            Console.Out.WriteLine(text);
            Console.Out.Flush();
        }
    }
}
